#include "checks/whereabouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "checks/call_text.hpp"
#include "reader/ranges.hpp"

namespace plumbline::checks {
namespace {

using reader::Stack;
using reader::StackFrame;
using reader::StackReason;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_library(const StackFrame& frame) {
  static constexpr std::array<std::string_view, 4> kPlaces = {"/lib/python", "/site-packages/", "/dist-packages/",
                                                              "<frozen"};
  return frame.file.empty() || std::any_of(kPlaces.begin(), kPlaces.end(), [&](std::string_view place) {
           return frame.file.find(place) != std::string::npos;
         });
}

std::string frame_text(const StackFrame& frame) {
  std::string function = frame.function.empty() ? fmt::format("{:#x}", frame.pc) : frame.function;
  if (frame.file.empty()) return function;
  if (frame.line == 0) return fmt::format("{} ({})", function, file_name(frame.file));
  return fmt::format("{} ({}:{})", function, file_name(frame.file), frame.line);
}

bool shows_standstill(const Stack& stack) {
  return stack.reason == StackReason::kStall || stack.reason == StackReason::kImported ||
         stack.reason == StackReason::kFatalSignal;
}

// Of a fatal signal only the thread is taken that it hit, whichever that was.
bool is_training_thread(const Stack& stack) {
  return stack.is(recorder::kTrainingThread) || stack.thread_name == "MainThread" ||
         stack.reason == StackReason::kFatalSignal;
}

const Stack* latest(const reader::Trace& trace, std::uint64_t since_ns, bool (*wanted)(const Stack&)) {
  const Stack* found = nullptr;
  for (const Stack& stack : trace.definitions().stacks) {
    if (!shows_standstill(stack) || !wanted(stack)) continue;
    // An imported stack may have no time of its own: it was taken because the rank stood still.
    if (stack.time_ns < since_ns && stack.reason != StackReason::kImported) continue;
    if (found == nullptr || stack.time_ns >= found->time_ns) found = &stack;
  }
  return found;
}

}  // namespace

std::string site_text(std::string_view site) {
  const std::size_t end = std::min(site.find(' '), site.size());
  std::size_t slash = site.substr(0, end).rfind('/');
  if (slash == std::string_view::npos || slash == 0) return std::string(site);
  slash = site.rfind('/', slash - 1);
  return std::string(slash == std::string_view::npos ? site : site.substr(slash + 1));
}

std::string site_text(const reader::Trace& trace, const reader::Collective& call) {
  return call.site == 0 ? std::string() : site_text(trace.text(call.site));
}

const Stack* stack_since(const reader::Trace& trace, std::uint64_t since_ns) {
  return latest(trace, since_ns, is_training_thread);
}

std::string script_line(const Stack& stack) {
  const auto own = std::find_if(stack.python.begin(), stack.python.end(),
                                [](const StackFrame& frame) { return !is_library(frame); });
  if (own == stack.python.end()) return {};
  return site_text(fmt::format("{}:{} in {}", own->file, own->line, own->function));
}

std::string exception_line(const reader::Trace& trace) {
  constexpr std::string_view kBetween = " < ";
  std::string_view rest = trace.definitions().fact("exception.stack");
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(kBetween));
    rest.remove_prefix(std::min(rest.size(), entry.size() + kBetween.size()));
    StackFrame frame;
    frame.file = std::string(entry.substr(0, entry.rfind(':')));
    if (!is_library(frame)) return site_text(entry);
  }
  return {};
}

std::string stack_text(const Stack& stack) {
  constexpr std::size_t kShown = 5;
  const std::vector<StackFrame>& frames = stack.python.empty() ? stack.native : stack.python;
  std::string text;
  for (std::size_t index = 0; index < frames.size() && index < kShown; ++index) {
    text += (index == 0 ? "" : " < ") + frame_text(frames[index]);
  }
  if (frames.size() > kShown) text += " < ..";
  // What holds a thread up inside a call that Python only sees from outside.
  if (!stack.python.empty() && !stack.native.empty() && !stack.native.front().function.empty()) {
    text += fmt::format("; natively in {}", stack.native.front().function);
  }
  return text;
}

std::vector<std::string> stack_lines(const Subject& subject, std::size_t trace_index, std::uint64_t since_ns) {
  const reader::Trace& trace = subject.run().traces()[trace_index];
  std::vector<std::string> lines;
  const auto tell = [&](const Stack& stack, std::string_view whose) {
    const std::string when = stack.time_ns == 0 ? "" : " at " + time_text(subject.seconds(trace_index, stack.time_ns));
    lines.push_back(fmt::format("rank {}{}{}: {}", trace.rank(), whose, when, stack_text(stack)));
  };
  const Stack* training = stack_since(trace, since_ns);
  if (training != nullptr) tell(*training, " stood");
  const Stack* holder =
      latest(trace, since_ns, [](const Stack& stack) { return stack.is(recorder::kHoldsInterpreterLock); });
  if (holder != nullptr && holder != training) {
    tell(*holder, fmt::format(", interpreter lock held by {}", holder->thread_name));
  }
  return lines;
}

std::string phase_at(const reader::Trace& trace, std::uint64_t time_ns) {
  // A range that was entered earlier than that, and is not left soon, is no phase but the whole program.
  constexpr std::uint64_t kAround = 60'000'000'000;
  reader::Query window{.kinds = reader::kRanges, .from_ns = time_ns > kAround ? time_ns - kAround : 0};
  window.to_ns = time_ns + kAround;
  std::optional<reader::Range> innermost;
  reader::read_ranges(trace, window, [&](const reader::Range& range) {
    const bool around =
        range.begin_ns != 0 && range.begin_ns <= time_ns && (range.end_ns == 0 || range.end_ns >= time_ns);
    if (!around || !is_phase(trace, range)) return true;
    if (!innermost || range.begin_ns >= innermost->begin_ns) innermost = range;
    return true;
  });
  return innermost ? std::string(trace.text(innermost->name)) : std::string();
}

std::string steps_done(const reader::Trace& trace) {
  const std::int64_t steps = trace.steps().count();
  return steps == 0 ? std::string() : fmt::format("{} step{}", steps, steps == 1 ? "" : "s");
}

}  // namespace plumbline::checks
