#include "tools/run_reader/report/stacks_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/stacks.hpp"
#include "tools/run_reader/report/html.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostStacks = 40;

struct SharedStack {
  std::set<std::int32_t> ranks;
  std::string thread;
  bool training = false;
};

std::string frames_of(const reader::Stack& stack) {
  std::string text;
  for (const reader::StackFrame& frame : stack.python)
    text += fmt::format("{} ({}:{})\n", frame.function, frame.file, frame.line);
  if (!text.empty()) return text;
  for (const reader::StackFrame& frame : stack.native)
    text += frame.function.empty() ? fmt::format("{:#x}\n", frame.pc) : frame.function + "\n";
  return text;
}

}  // namespace

std::string stacks_html(const Context& context) {
  std::map<std::pair<std::string, std::string>, SharedStack> shared;  // by reason and frames
  for (const reader::Trace& trace : context.run.traces()) {
    for (const reader::Stack& stack : trace.definitions().stacks) {
      const std::string frames = frames_of(stack);
      if (frames.empty()) continue;
      SharedStack& one = shared[{std::string(reader::name_of(stack.reason)), frames}];
      one.ranks.insert(trace.rank());
      if (one.thread.empty()) one.thread = stack.thread_name;
      one.training = one.training || stack.is(recorder::kTrainingThread);
    }
  }
  std::string html;
  std::size_t told = 0;
  for (const bool training : {true, false}) {
    for (const auto& [key, one] : shared) {
      if (one.training != training || ++told > kMostStacks) continue;
      std::string reason = key.first;
      std::replace(reason.begin(), reason.end(), '_', ' ');
      html += fmt::format("<details{}><summary>{}</summary><pre>{}</pre></details>\n", training ? " open" : "",
                          escaped(fmt::format("{}, thread {}: {}", ranks_phrase({one.ranks.begin(), one.ranks.end()}),
                                              one.thread, reason)),
                          escaped(key.second));
    }
  }
  if (shared.size() > kMostStacks) {
    html += element("p", fmt::format("{} more stacks: run-reader stacks shows all.", shared.size() - kMostStacks));
  }
  return html;
}

}  // namespace plumbline::tools
