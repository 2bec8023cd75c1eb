#include "tools/run_reader/allocation_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reader/names.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {

std::vector<AllocationRow> allocation_rows(const Context& context) {
  std::vector<AllocationRow> rows;
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (!context.options.filter.takes_rank(traces[index].rank())) continue;
    const reader::TraceSummary& summary = context.subject.summaries()[index];
    std::vector<reader::AllocationStats> all = summary.allocations;
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.peak_bytes > b.peak_bytes; });
    for (const reader::AllocationStats& stats : all) {
      rows.push_back({traces[index].rank(), traces[index].attempt(), index, summary.resident_peak_bytes, stats});
    }
  }
  return rows;
}

Table allocation_table(const std::vector<AllocationRow>& rows, std::size_t most) {
  Table table({{"rank", Align::kRight},
               {"source"},
               {"device", Align::kRight},
               {"requests", Align::kRight},
               {"in all", Align::kRight},
               {"peak", Align::kRight},
               {"largest", Align::kRight},
               {"at end", Align::kRight},
               {"failed", Align::kRight},
               {"resident", Align::kRight}});
  for (const AllocationRow& row : rows) {
    if (most-- == 0) break;
    const reader::AllocationStats& stats = row.stats;
    std::string rank = std::to_string(row.rank);
    if (row.attempt > 0) rank += fmt::format("/a{}", row.attempt);
    table.add({rank, std::string(reader::name_of(stats.source)), stats.device < 0 ? "-" : std::to_string(stats.device),
               count_text(stats.allocations), bytes_text(stats.bytes), bytes_text(stats.peak_bytes),
               bytes_text(stats.largest), bytes_text(stats.live_bytes),
               stats.failures == 0 ? "-" : count_text(stats.failures),
               row.resident_peak_bytes == 0 ? "-" : bytes_text(static_cast<std::uint64_t>(row.resident_peak_bytes))});
  }
  return table;
}

Json allocation_json(const Context& context, const std::vector<AllocationRow>& rows) {
  Json json = Json::array();
  for (const AllocationRow& row : rows) {
    const reader::AllocationStats& stats = row.stats;
    json.push_back({{"rank", row.rank},
                    {"attempt", row.attempt},
                    {"source", reader::name_of(stats.source)},
                    {"device", stats.device},
                    {"allocations", stats.allocations},
                    {"frees", stats.frees},
                    {"bytes", stats.bytes},
                    {"peak_bytes", stats.peak_bytes},
                    {"peak_t", stats.peak_ns == 0 ? 0.0 : context.subject.seconds(row.trace, stats.peak_ns)},
                    {"largest_bytes", stats.largest},
                    {"live", stats.live},
                    {"live_bytes", stats.live_bytes},
                    {"failures", stats.failures},
                    {"largest_failed_bytes", stats.failed_bytes},
                    {"unmatched_frees", stats.unmatched_frees},
                    {"replaced", stats.replaced},
                    {"resident_peak_bytes", row.resident_peak_bytes}});
  }
  return json;
}

}  // namespace plumbline::tools
