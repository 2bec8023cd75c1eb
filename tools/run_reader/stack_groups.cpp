#include "tools/run_reader/stack_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Addresses differ between processes: a native frame is what its function or its module is called.
bool same_frames(const std::vector<reader::StackFrame>& a, const std::vector<reader::StackFrame>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return std::tie(x.function, x.file, x.line) == std::tie(y.function, y.file, y.line);
  });
}

bool same(const reader::Stack& a, const reader::Stack& b) {
  return std::tie(a.reason, a.thread_name, a.flags) == std::tie(b.reason, b.thread_name, b.flags) &&
         (a.reason == reader::StackReason::kStall || a.detail == b.detail) && same_frames(a.python, b.python) &&
         same_frames(a.native, b.native);
}

std::string reason_text(const reader::Stack& stack) {
  switch (stack.reason) {
    case reader::StackReason::kStall:
      return "stalled for " + duration_text(stack.detail);
    case reader::StackReason::kFatalSignal:
      return fmt::format("fatal signal {} ({})", stack.detail, strsignal(static_cast<int>(stack.detail)));
    case reader::StackReason::kLargeAllocation:
      return "asks for " + bytes_text(stack.detail);
    case reader::StackReason::kFailedAllocation:
      return "failed to get " + bytes_text(stack.detail);
    case reader::StackReason::kImported:
      return "imported";
  }
  return "looked at";
}

std::string place_of(const reader::StackFrame& frame) {
  if (frame.pc != 0) return base_name(frame.file);
  return frame.line != 0 ? fmt::format("{}:{}", frame.file, frame.line) : frame.file;
}

// "  python  stuck                     /job/train.py:10"
std::string frame_lines(std::string_view kind, const std::vector<reader::StackFrame>& frames) {
  constexpr std::size_t kFunctionWidth = 40;
  constexpr std::size_t kIndent = 10;
  std::string text;
  for (const reader::StackFrame& frame : frames) {
    const std::string function = frame.function.empty() ? "?" : printable(frame.function);
    const std::string name = truncated(function, kFunctionWidth);
    const std::string place = shortened(printable(place_of(frame)), kColumns - kIndent - kFunctionWidth - 1);
    text += fmt::format("  {:<8}{}{} {}\n", kind, name, std::string(kFunctionWidth - width_of(name), ' '), place);
    kind = "";
  }
  return text;
}

}  // namespace

void StackGroups::add(int rank, double seconds, reader::Stack stack) {
  const auto known =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return same(group.stack, stack); });
  Group& group = known != groups_.end() ? *known : groups_.emplace_back();
  if (group.looks++ == 0) {
    group.stack = std::move(stack);
    group.first_s = group.last_s = seconds;
  } else {
    group.stack.detail = std::max(group.stack.detail, stack.detail);
  }
  group.first_s = std::min(group.first_s, seconds);
  group.last_s = std::max(group.last_s, seconds);
  if (std::find(group.ranks.begin(), group.ranks.end(), rank) == group.ranks.end()) group.ranks.push_back(rank);
}

std::string StackGroups::heading(const Group& group) {
  const reader::Stack& stack = group.stack;
  std::string text = ranks_phrase(group.ranks) + ": ";
  text += stack.is(recorder::kTrainingThread) ? "the training thread" : "thread " + printable(stack.thread_name);
  text += ", " + reason_text(stack);
  if (stack.is(recorder::kHoldsInterpreterLock)) text += ", holds the interpreter lock";
  if (stack.reason == reader::StackReason::kStall) text += stack.is(recorder::kIdle) ? ", waits" : ", runs";
  text += fmt::format(", at {:.1f} s", group.first_s);
  if (group.looks > group.ranks.size()) text += fmt::format(" and up to {:.1f} s", group.last_s);
  return wrapped(text, 2);
}

std::string StackGroups::text(const Style& style) const {
  std::vector<const Group*> order;
  for (const Group& group : groups_) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [](const Group* a, const Group* b) {
    const auto key = [](const Group* group) {
      return std::tuple(!group->stack.is(recorder::kTrainingThread), group->stack.python.empty(), group->ranks.size());
    };
    return key(a) < key(b);
  });
  std::string text;
  for (const Group* group : order) {
    text += style.bold(heading(*group)) + "\n";
    text += frame_lines("python", group->stack.python);
    text += frame_lines("native", group->stack.native);
    text += "\n";
  }
  return text;
}

}  // namespace plumbline::tools
