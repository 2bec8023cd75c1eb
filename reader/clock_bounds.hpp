// The arithmetic of clock alignment, apart from any trace: from bounds on the distance of two clocks to an offset.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/clock.hpp"

namespace plumbline::reader {

// One matched collective between a host and the host it is compared with: clock_host − clock_other lies in between.
struct ClockBound {
  std::uint64_t time_ns = 0;  // on the host's own clock
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct ClockFit {
  std::vector<HostClock::Knot> knots;  // offsets here are clock_host − clock_other
  std::uint64_t uncertainty_ns = 0;
};

// The middle between the tightest bounds; where they contradict each other (the clocks drift), that of each half, and
// so on. `bounds` must not be empty; it is sorted by time.
ClockFit fit_clock(std::vector<ClockBound>& bounds);

// Linear between knots, constant beyond them.
std::int64_t offset_at(const std::vector<HostClock::Knot>& knots, std::uint64_t time_ns);

}  // namespace plumbline::reader
