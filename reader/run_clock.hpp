// One time line for a run: nanoseconds since the start of its first process, the same for all ranks.
//
//   RunClock clock(run);
//   double seconds = RunClock::seconds(clock.since_start(trace_index, event.time_ns));
#pragma once

#include <cstddef>
#include <cstdint>

#include "reader/clock.hpp"
#include "reader/run.hpp"

namespace plumbline::reader {

class RunClock {
 public:
  explicit RunClock(const Run& run, const ClockAlignment::StaysOfTrace& stays_of = {});

  // `trace` is an index in Run::traces(). Negative for a time before the first process's start, which an event of
  // another host may show by the clocks' uncertainty.
  std::int64_t since_start(std::size_t trace, std::uint64_t time_ns) const;
  // The inverse: a time of that trace's own clock, for queries. Saturates at both ends of what a clock can show.
  std::uint64_t trace_time(std::size_t trace, double seconds) const;

  std::uint64_t start_realtime_ns() const { return start_realtime_ns_; }
  const ClockAlignment& alignment() const { return alignment_; }

  static double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

 private:
  ClockAlignment alignment_;
  std::int64_t start_ns_ = 0;  // on the clock of the first host
  std::uint64_t start_realtime_ns_ = 0;
};

}  // namespace plumbline::reader
