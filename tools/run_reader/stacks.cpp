// `stacks`: what threads were doing when they were looked at: at a stall, a fatal signal, a large or failed allocation.
// Equal stacks of several ranks, or of several looks at one, are shown once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/symbolizer.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/stack_groups.hpp"
#include "tools/run_reader/style.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

std::string file_list(const std::set<std::string>& files) {
  return joined(std::vector<std::string>(files.begin(), files.end()), ", ");
}

// Frames without a name, and why.
std::string nameless_text(const reader::Symbolizer& symbolizer) {
  std::string text;
  if (!symbolizer.missing().empty())
    text += wrapped("Not on this machine, so without names: " + file_list(symbolizer.missing()) + ".", 2) + "\n";
  if (!symbolizer.changed().empty())
    text +=
        wrapped("Another build than that of the job, so without names: " + file_list(symbolizer.changed()) + ".", 2) +
        "\n";
  return text;
}

Json frames_json(const std::vector<reader::StackFrame>& frames) {
  Json json = Json::array();
  for (const reader::StackFrame& frame : frames) {
    Json one = {{"function", frame.function}, {"file", frame.file}};
    if (frame.line != 0) one["line"] = frame.line;
    if (frame.pc != 0) one["pc"] = fmt::format("{:#x}", frame.pc);
    json.push_back(std::move(one));
  }
  return json;
}

Json stack_json(const Context& context, std::size_t index, const reader::Stack& stack) {
  const reader::Trace& trace = context.run.traces()[index];
  return {{"rank", trace.rank()},
          {"attempt", trace.attempt()},
          {"t", context.subject.seconds(index, stack.time_ns)},
          {"tid", stack.tid},
          {"thread", stack.thread_name},
          {"reason", reader::name_of(stack.reason)},
          {"detail", stack.detail},
          {"training_thread", stack.is(recorder::kTrainingThread)},
          {"holds_interpreter_lock", stack.is(recorder::kHoldsInterpreterLock)},
          {"idle", stack.is(recorder::kIdle)},
          {"python", frames_json(stack.python)},
          {"native", frames_json(stack.native)}};
}

}  // namespace

int run_stacks(const Context& context) {
  reader::Symbolizer symbolizer;
  StackGroups groups;
  Json json = {{"schema", "plumbline.stacks.1"}, {"run", context.run.path()}, {"stacks", Json::array()}};
  const auto& traces = context.run.traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (!context.options.filter.takes_rank(traces[index].rank())) continue;
    const reader::Definitions& definitions = traces[index].definitions();
    for (reader::Stack stack : definitions.stacks) {
      symbolizer.resolve(definitions.modules, stack);
      if (context.options.json)
        json["stacks"].push_back(stack_json(context, index, stack));
      else
        groups.add(traces[index].rank(), context.subject.seconds(index, stack.time_ns), std::move(stack));
    }
  }
  if (context.options.json) {
    json["missing_files"] = symbolizer.missing();
    json["changed_files"] = symbolizer.changed();
    print_json(context.out, json);
  } else if (groups.empty()) {
    context.out << "No stacks were taken: no thread stalled, crashed, or asked for much memory.\n";
  } else {
    context.out << groups.text(Style(context.options.colour)) << nameless_text(symbolizer);
  }
  return kExitFine;
}

}  // namespace plumbline::tools
