#include "checks/ending.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <span>

#include "reader/liveness.hpp"

namespace plumbline::checks {
namespace {

// A message is one line of a report: what follows its first line, or its hundredth byte or so, is in the trace.
std::string first_line(const std::string& message) {
  constexpr std::size_t kLongest = 120;
  std::string line = message.substr(0, message.find('\n'));
  if (line.size() > kLongest) line = line.substr(0, kLongest) + "..";
  return line;
}

std::string exception_clause(const reader::ExitInfo& exit) {
  if (exit.exception_class.empty()) return {};
  std::string clause = " after " + exit.exception_class;
  if (!exit.exception_message.empty()) clause += ": " + first_line(exit.exception_message);
  return clause;
}

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != text.npos; });
}

Ending recorded_ending(const reader::ExitInfo& exit) {
  Ending ending;
  ending.time_ns = exit.time_ns;
  if (exit.signal != 0) {
    ending.kind = EndingKind::kSignal;
    ending.brief = "was killed by " + signal_name(exit.signal);
    if (exit.signal == SIGTERM || exit.signal == SIGINT || exit.signal == SIGHUP) ending.origin = Origin::kToldToEnd;
  } else if (exit.status == 0 && exit.exception_class.empty()) {
    ending.kind = EndingKind::kClean;
    ending.brief = "exited with status 0";
  } else if (exit.status < 0 && exit.exception_class.empty()) {
    // It came to its end in order, but by a way that does not tell the status.
    ending.kind = EndingKind::kClean;
    ending.brief = "exited, status not known";
  } else {
    ending.kind = EndingKind::kFailed;
    ending.brief = exit.status < 0 ? "exited, status not known" : "exited with status " + std::to_string(exit.status);
    ending.origin = origin_of(exit.exception_class, exit.exception_message);
  }
  ending.clause = ending.brief + exception_clause(exit);
  return ending;
}

// What a process says of an uncaught exception before it dies of it.
reader::ExitInfo told_exception(const reader::Trace& trace) {
  reader::ExitInfo told;
  told.exception_class = trace.definitions().fact("exception.class");
  told.exception_message = trace.definitions().fact("exception.message");
  return told;
}

// A signal after which nothing more was recorded: that it was caught is seen by the stack that was taken then.
const reader::Stack* fatal_stack(const reader::Trace& trace) {
  constexpr std::uint64_t kSoon = 1'000'000'000;
  for (const reader::Stack& stack : trace.definitions().stacks) {
    const bool last = stack.time_ns + kSoon >= trace.last_ns();
    if (stack.reason == reader::StackReason::kFatalSignal && stack.detail != 0 && last) return &stack;
  }
  return nullptr;
}

Ending ending_without_record(const reader::Trace& trace) {
  Ending ending;
  ending.time_ns = trace.last_ns();
  const reader::ExitInfo told = told_exception(trace);
  const std::string exception = exception_clause(told);
  switch (reader::life_of(trace)) {
    case reader::Life::kRunning:
      ending.kind = EndingKind::kRunning;
      ending.clause = ending.brief = "still runs";
      break;
    case reader::Life::kGone:
      if (told.exception_class == "KeyboardInterrupt") {
        // Python answers it by killing itself, so that a shell sees why.
        ending.kind = EndingKind::kSignal;
        ending.origin = Origin::kToldToEnd;
        ending.brief = "was killed by SIGINT";
        ending.clause = ending.brief + exception;
        break;
      }
      if (trace.ring_join() == reader::RingJoin::kNone) {
        // A killed process leaves its ring: without one this is a copy or a part of a trace, and no evidence of an end.
        ending.brief = "left no exit record here";
        ending.clause = "left no exit record" + exception +
                        ", and its ring file is not here: the trace was cut, or copied without it";
        break;
      }
      if (const reader::Stack* stack = fatal_stack(trace)) {
        ending.kind = EndingKind::kSignal;
        ending.time_ns = stack->time_ns;
        ending.brief = "was killed by " + signal_name(static_cast<int>(stack->detail));
        ending.clause = ending.brief + exception;
        break;
      }
      ending.kind = EndingKind::kKilled;
      if (!exception.empty()) ending.origin = origin_of(told.exception_class, told.exception_message);
      ending.brief = "was killed";
      ending.clause = exception.empty() ? "ended without an exit record: killed (SIGKILL, SIGTERM, SIGINT, out of "
                                          "memory..), or replaced by exec"
                                        : "ended without an exit record" + exception;
      break;
    default:
      ending.brief = "left no exit record";
      ending.clause = "left no exit record" + exception + ": it was killed, or still runs on " + trace.host();
  }
  return ending;
}

// Recording ended before the process did: no word on the process, unless somebody saw its end.
Ending ending_after_stop(const reader::Trace& trace, const reader::RecordingStop& stop) {
  Ending ending;
  if (stop.exit_ns != 0) {
    reader::ExitInfo exit = told_exception(trace);
    exit.time_ns = stop.exit_ns;
    exit.status = stop.exit_status;
    ending = recorded_ending(exit);
  } else {
    ending.time_ns = trace.last_ns();
    const bool runs = reader::life_of(trace) == reader::Life::kRunning;
    if (runs) ending.kind = EndingKind::kRunning;
    ending.clause = ending.brief = runs ? "still runs" : "ended unseen";
  }
  ending.clause += "; its recording had ended before: " + stop.reason;
  return ending;
}

}  // namespace

Ending ending_of(const reader::Trace& trace) {
  if (const reader::ExitInfo* exit = trace.exit()) return recorded_ending(*exit);
  if (!trace.continued_in().empty()) {
    Ending ending;
    ending.kind = EndingKind::kReplaced;
    ending.time_ns = trace.last_ns();
    ending.brief = "was replaced by exec";
    ending.clause = "was replaced by exec; its process goes on in " +
                    std::filesystem::path(trace.continued_in()).filename().string();
    return ending;
  }
  if (const reader::RecordingStop* stop = trace.stop()) return ending_after_stop(trace, *stop);
  return ending_without_record(trace);
}

Origin origin_of(std::string_view exception_class, std::string_view message) {
  // Of gloo, NCCL and the store, as their messages have been worded for years.
  static constexpr std::array<std::string_view, 9> kLost = {"Connection closed by peer",
                                                            "Connection reset by peer",
                                                            "Broken pipe",
                                                            "remote process exited",
                                                            "ncclRemoteError",
                                                            "Connection was likely closed",
                                                            "aborted by",
                                                            "NCCL communicator was aborted",
                                                            "Remote peer"};
  static constexpr std::array<std::string_view, 7> kTimeouts = {"Timed out waiting",
                                                                "timed out",
                                                                "Timeout waiting",
                                                                "wait timeout",
                                                                "Watchdog caught collective operation timeout",
                                                                "Socket Timeout",
                                                                "Application timeout"};
  const bool from_library = exception_class.empty() || exception_class.find("RuntimeError") != exception_class.npos ||
                            exception_class.find("Dist") != exception_class.npos ||
                            exception_class.find("Connection") != exception_class.npos ||
                            exception_class.find("BrokenPipe") != exception_class.npos;
  if (!from_library) return Origin::kOwn;
  if (holds_any(message, kLost)) return Origin::kPeerLost;
  return holds_any(message, kTimeouts) ? Origin::kTimedOut : Origin::kOwn;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name);
}

}  // namespace plumbline::checks
