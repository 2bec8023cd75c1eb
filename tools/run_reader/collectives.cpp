// `collectives`: by group and operation, then those that did not finish.
#include <fmt/format.h>

#include "checks/call_text.hpp"
#include "checks/check.hpp"
#include "checks/hang.hpp"
#include "reader/names.hpp"
#include "tools/run_reader/collective_rows.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/event_source.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/style.hpp"
#include "tools/run_reader/text.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

// Calls that nothing shows to have ended, rank by rank.
Table open_calls(const Context& context, std::size_t most) {
  Table table({{"rank", Align::kRight},
               {"group"},
               {"open call"},
               {"since", Align::kRight},
               {"step", Align::kRight},
               {"wait()"}});
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (!context.options.filter.takes_rank(traces[index].rank())) continue;
    for (const reader::Collective& call : context.subject.summaries()[index].pending) {
      if (call.parent != 0) continue;
      if (most-- == 0) return table;
      const reader::Group* group = traces[index].group(call.group);
      const std::int64_t step = step_at(traces[index], call.enqueue_ns);
      table.add({std::to_string(traces[index].rank()), group ? checks::group_name(*group) : "not known",
                 checks::call_text(call), checks::time_text(context.subject.seconds(index, call.enqueue_ns)),
                 step < 0 ? "-" : std::to_string(step), call.wait_ns != 0 && call.wait_end_ns == 0 ? "waits" : ""});
    }
  }
  return table;
}

Json open_calls_json(const Context& context) {
  Json json = Json::array();
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (!context.options.filter.takes_rank(traces[index].rank())) continue;
    for (const reader::Collective& call : context.subject.summaries()[index].pending) {
      const reader::Group* group = traces[index].group(call.group);
      json.push_back({{"rank", traces[index].rank()},
                      {"group", group ? group->name : ""},
                      {"seq", call.seq},
                      {"op", reader::name_of(call.op)},
                      {"layer", reader::name_of(call.layer)},
                      {"t", context.subject.seconds(index, call.enqueue_ns)},
                      {"step", step_at(traces[index], call.enqueue_ns)},
                      {"site", call.site != 0 ? traces[index].text(call.site) : ""},
                      {"in_wait", call.wait_ns != 0 && call.wait_end_ns == 0}});
    }
  }
  return json;
}

}  // namespace

int run_collectives(const Context& context) {
  const auto rows = collective_rows(context);
  const std::vector<checks::Verdict> verdicts = {checks::check_hang(context.subject)};
  if (context.options.json) {
    Json json = {{"schema", "plumbline.collectives.1"}, {"run", context.run.path()}};
    json["verdicts"] = verdicts_json(verdicts);
    json["collectives"] = collective_json(rows);
    json["open"] = open_calls_json(context);
    print_json(context.out, json);
  } else {
    constexpr std::size_t kMostOpen = 20;
    const Style style(context.options.colour);
    context.out << verdicts_text(verdicts, style);
    if (!rows.empty()) context.out << '\n' << collective_table(rows, rows.size()).text(0);
    const Table open = open_calls(context, kMostOpen);
    if (!open.empty()) context.out << '\n' << open.text(0);
  }
  return exit_code_of(verdicts, false);
}

}  // namespace plumbline::tools
