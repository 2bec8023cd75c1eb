#include "tools/run_reader/collective_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checks/call_text.hpp"
#include "reader/names.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using RunKey = std::tuple<std::string, std::vector<int>, reader::Layer, reader::Op>;

void merge(CollectiveRow& into, const reader::CallActivity& one, std::int32_t rank) {
  into.least = into.calls == 0 ? one.calls : std::min(into.least, one.calls);
  into.most = std::max(into.most, one.calls);
  into.ranks.push_back(rank);
  into.calls += one.calls;
  into.bytes_in += one.bytes_in;
  into.bytes_out += one.bytes_out;
  into.pending += one.pending;
  into.failed += one.failed;
  into.busy_ns += one.busy_ns;
  into.completed += one.completed;
  into.longest_ns = std::max(into.longest_ns, one.longest_ns);
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const Context& context) {
  std::map<RunKey, CollectiveRow> merged;
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    for (const reader::CallActivity& calls : context.subject.summaries()[index].calls) {
      const reader::Group* group = trace.group(calls.group);
      CollectiveRow& row = merged[group ? RunKey{group->name, group->ranks, calls.layer, calls.op}
                                        : RunKey{"", {}, calls.layer, calls.op}];
      row.layer = calls.layer;
      row.op = calls.op;
      row.group = group ? checks::group_name(*group) : "group not known";
      if (group) {
        row.group_name = group->name;
        row.backend = group->backend;
        row.group_ranks = group->ranks;
      }
      merge(row, calls, trace.rank());
    }
  }
  std::vector<CollectiveRow> rows;
  rows.reserve(merged.size());
  for (auto& [key, row] : merged) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return std::max(a.bytes_in, a.bytes_out) > std::max(b.bytes_in, b.bytes_out);
  });
  return rows;
}

Table collective_table(const std::vector<CollectiveRow>& rows, std::size_t most) {
  Table table({{"group"},
               {"ranks"},
               {"operation"},
               {"calls a rank", Align::kRight},
               {"bytes in", Align::kRight},
               {"mean", Align::kRight},
               {"longest", Align::kRight},
               {"open", Align::kRight},
               {"failed", Align::kRight}});
  for (const CollectiveRow& row : rows) {
    if (most-- == 0) break;
    std::string op(reader::name_of(row.op));
    if (row.layer == reader::Layer::kNccl) op.insert(0, "nccl ");
    const auto some = [](std::uint64_t count) { return count == 0 ? std::string("-") : count_text(count); };
    table.add({row.group, ranks_text(row.group_ranks, 4), op,
               row.least == row.most ? count_text(row.most)
                                     : fmt::format("{}-{}", count_text(row.least), count_text(row.most)),
               bytes_text(row.bytes_in), row.completed == 0 ? "-" : duration_text(row.busy_ns / row.completed),
               row.completed == 0 ? "-" : duration_text(row.longest_ns), some(row.pending), some(row.failed)});
  }
  return table;
}

Json collective_json(const std::vector<CollectiveRow>& rows) {
  Json json = Json::array();
  for (const CollectiveRow& row : rows) {
    json.push_back({{"group", row.group_name},
                    {"description", row.group},
                    {"backend", row.backend},
                    {"group_ranks", row.group_ranks},
                    {"layer", reader::name_of(row.layer)},
                    {"op", reader::name_of(row.op)},
                    {"ranks", row.ranks},
                    {"calls", row.calls},
                    {"calls_least", row.least},
                    {"calls_most", row.most},
                    {"bytes_in", row.bytes_in},
                    {"bytes_out", row.bytes_out},
                    {"completed", row.completed},
                    {"pending", row.pending},
                    {"failed", row.failed},
                    {"busy_s", static_cast<double>(row.busy_ns) / 1e9},
                    {"longest_s", static_cast<double>(row.longest_ns) / 1e9}});
  }
  return json;
}

}  // namespace plumbline::tools
