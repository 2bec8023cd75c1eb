// How a process ended, as a checked fact and in words: "was killed by SIGSEGV", "exited with status 1 after
// ValueError: …", "still runs".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/trace.hpp"

namespace plumbline::checks {

enum class EndingKind : std::uint8_t {
  kClean,     // exit status 0
  kFailed,    // another exit status, or an uncaught exception
  kSignal,    // a fatal signal that it could still record
  kKilled,    // no exit record but a ring, and the process is gone: it did not live to record its end
  kReplaced,  // it went on as another program (exec), which has a trace of its own
  kRunning,   // it is still there
  kUnknown,   // no exit record, and no way to ask
};

// Whether a bad end came from the process itself, or because others had gone or were to go.
enum class Origin : std::uint8_t {
  kOwn,
  kToldToEnd,  // a signal that launchers and schedulers send
  kPeerLost,   // its connection to another rank broke
  kTimedOut,   // it gave up waiting for other ranks
};

struct Ending {
  EndingKind kind = EndingKind::kUnknown;
  Origin origin = Origin::kOwn;
  std::uint64_t time_ns = 0;  // of the exit record, else of the last event
  std::string clause;         // follows "rank 3 "
  std::string brief;          // the same without reasons

  bool ended() const { return kind != EndingKind::kRunning && kind != EndingKind::kUnknown; }
  bool bad() const { return kind == EndingKind::kFailed || kind == EndingKind::kSignal || kind == EndingKind::kKilled; }
  bool bad_by_itself() const { return bad() && origin == Origin::kOwn; }
};

Ending ending_of(const reader::Trace& trace);

// What the words of an uncaught exception say of its origin.
Origin origin_of(std::string_view exception_class, std::string_view message);

// "SIGKILL" for 9.
std::string signal_name(int number);

}  // namespace plumbline::checks
