// Does the process behind a trace still run? A trace without an exit record may be one of a killed process, or of one
// that is still at work, and a verdict depends on which.
#pragma once

#include <cstdint>
#include <string>

#include "reader/trace.hpp"

namespace plumbline::reader {

enum class Life : std::uint8_t {
  kEnded,    // the trace has an exit record
  kRunning,  // no exit record; the process is there on this machine
  kGone,     // no exit record; this is its machine, and the process is not there: it was killed
  kUnknown,  // no exit record, and the process belongs to another machine
};

Life life_of(const Trace& trace);

// The part that asks the system: is `pid` on this machine the process that started to record at `recording_since_ns`
// (CLOCK_MONOTONIC)? A later process that was given the same number is not.
bool is_running(std::uint32_t pid, std::uint64_t recording_since_ns);

// The same, of what /proc/<pid>/stat says of it, see proc(5): neither a dead process nor one that is on its way out is.
bool tells_of_life(const std::string& stat, std::uint64_t recording_since_ns);

}  // namespace plumbline::reader
