#include "tools/run_reader/activity_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

// Calls `add(summary, trace, row_of_name)` for each trace and gathers the rows by name.
template <class Activities, class Add>
std::vector<ActivityRow> gather(const Context& context, Activities activities, const Add& add) {
  std::map<std::string, ActivityRow> by_name;
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    for (const auto& activity : context.subject.summaries()[index].*activities) {
      ActivityRow one;
      add(one, activity);
      ActivityRow& row = by_name[std::string(trace.text(activity.name))];
      row.least = row.count == 0 ? one.count : std::min(row.least, one.count);
      row.most = std::max(row.most, one.count);
      row.count += one.count;
      row.outermost += one.outermost;
      row.raised += one.raised;
      row.nanoseconds += one.nanoseconds;
      row.ranks.push_back(trace.rank());
    }
  }
  std::vector<ActivityRow> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ActivityRow& a, const ActivityRow& b) { return a.nanoseconds > b.nanoseconds; });
  return rows;
}

std::string count_a_rank(const ActivityRow& row) {
  if (row.least == row.most) return count_text(row.most);
  return fmt::format("{}-{}", count_text(row.least), count_text(row.most));
}

}  // namespace

std::vector<ActivityRow> optimizer_rows(const Context& context) {
  return gather(context, &reader::TraceSummary::optimizers,
                [](ActivityRow& row, const reader::OptimizerActivity& activity) {
                  row.count = activity.steps;
                  row.outermost = activity.outermost;
                  row.raised = activity.raised;
                  row.nanoseconds = activity.nanoseconds;
                });
}

std::vector<ActivityRow> range_rows(const Context& context) {
  return gather(context, &reader::TraceSummary::ranges, [](ActivityRow& row, const reader::RangeActivity& activity) {
    row.count = activity.count;
    row.nanoseconds = activity.nanoseconds;
  });
}

Table optimizer_table(const std::vector<ActivityRow>& rows) {
  Table table({{"optimizer"},
               {"ranks"},
               {"steps a rank", Align::kRight},
               {"outermost in all", Align::kRight},
               {"mean", Align::kRight},
               {"raised", Align::kRight}});
  for (const ActivityRow& row : rows) {
    table.add({row.name, ranks_text(row.ranks, 4), count_a_rank(row), count_text(row.outermost),
               duration_text(row.mean_ns()), row.raised == 0 ? "-" : count_text(row.raised)});
  }
  return table;
}

Table range_table(const std::vector<ActivityRow>& rows, std::size_t most) {
  Table table(
      {{"range"}, {"ranks"}, {"count a rank", Align::kRight}, {"mean", Align::kRight}, {"in all", Align::kRight}});
  for (const ActivityRow& row : rows) {
    if (most-- == 0) break;
    const bool timed = row.nanoseconds > 0;
    table.add({row.name, ranks_text(row.ranks, 4), count_a_rank(row), timed ? duration_text(row.mean_ns()) : "open",
               timed ? duration_text(row.nanoseconds) : "-"});
  }
  return table;
}

Json activity_json(const std::vector<ActivityRow>& rows) {
  Json json = Json::array();
  for (const ActivityRow& row : rows) {
    json.push_back({{"name", row.name},
                    {"ranks", row.ranks},
                    {"count", row.count},
                    {"count_least", row.least},
                    {"count_most", row.most},
                    {"outermost", row.outermost},
                    {"raised", row.raised},
                    {"total_s", static_cast<double>(row.nanoseconds) / 1e9}});
  }
  return json;
}

}  // namespace plumbline::tools
