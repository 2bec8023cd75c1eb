#include "checks/ending.hpp"

#include <cstring>

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

Ending recorded_ending(const reader::ExitInfo& exit) {
  Ending ending;
  ending.time_ns = exit.time_ns;
  if (exit.signal != 0) {
    ending.kind = EndingKind::kSignal;
    ending.brief = "was killed by " + signal_name(exit.signal);
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
  }
  ending.clause = ending.brief + exception_clause(exit);
  return ending;
}

}  // namespace

Ending ending_of(const reader::Trace& trace) {
  if (const reader::ExitInfo* exit = trace.exit()) return recorded_ending(*exit);
  Ending ending;
  ending.time_ns = trace.last_ns();
  switch (reader::life_of(trace)) {
    case reader::Life::kRunning:
      ending.kind = EndingKind::kRunning;
      ending.clause = ending.brief = "still runs";
      break;
    case reader::Life::kGone:
      if (trace.ring_join() == reader::RingJoin::kNone) {
        // A killed process leaves its ring: without one this is a copy or a part of a trace, and no evidence of an end.
        ending.brief = "left no exit record here";
        ending.clause = "left no exit record, and its ring file is not here: the trace was cut, or copied without it";
        break;
      }
      ending.kind = EndingKind::kKilled;
      ending.brief = "was killed";
      ending.clause =
          "ended without an exit record: killed (SIGKILL, SIGTERM, SIGINT, out of memory..), or replaced by exec";
      break;
    default:
      ending.brief = "left no exit record";
      ending.clause = "left no exit record: it was killed, or still runs on " + trace.host();
  }
  return ending;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : "SIG" + std::string(name);
}

}  // namespace plumbline::checks
