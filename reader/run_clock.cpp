#include "reader/run_clock.hpp"

#include <limits>

namespace plumbline::reader {

RunClock::RunClock(const Run& run, const ClockAlignment::StaysOfTrace& stays_of)
    : alignment_(ClockAlignment::estimate(run, stays_of)) {
  bool first = true;
  for (std::size_t index = 0; index < run.traces().size(); ++index) {
    const ProcessInfo& process = run.traces()[index].process();
    const std::int64_t start = alignment_.align(index, process.start_monotonic_ns);
    if (first || start < start_ns_) {
      start_ns_ = start;
      start_realtime_ns_ = process.start_realtime_ns;
      first = false;
    }
  }
}

std::int64_t RunClock::since_start(std::size_t trace, std::uint64_t time_ns) const {
  return alignment_.align(trace, time_ns) - start_ns_;
}

std::uint64_t RunClock::trace_time(std::size_t trace, double seconds) const {
  // What a double can hold of a 64-bit time without overflow on the way back.
  constexpr double kFarthest = 9.0e18;
  const double target = static_cast<double>(start_ns_) + seconds * 1e9;
  if (target >= kFarthest) return std::numeric_limits<std::uint64_t>::max();
  // The offset changes slowly: the one at the target time, taken as if it were the trace's own clock, is near enough
  // to find the one that applies.
  const auto aligned = static_cast<std::int64_t>(target < 0 ? 0 : target);
  const std::int64_t guess = aligned - alignment_.offset_at(trace, static_cast<std::uint64_t>(aligned));
  const std::int64_t time = aligned - alignment_.offset_at(trace, static_cast<std::uint64_t>(guess < 0 ? 0 : guess));
  return time < 0 ? 0 : static_cast<std::uint64_t>(time);
}

}  // namespace plumbline::reader
