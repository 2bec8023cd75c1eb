#include "reader/clock_bounds.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace plumbline::reader {
namespace {

// A stretch with fewer bounds is not cut further.
constexpr std::size_t kFewest = 4;

void fit(std::span<const ClockBound> bounds, ClockFit& result) {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const ClockBound& bound : bounds) {
    least = std::max(least, bound.least);
    most = std::min(most, bound.most);
  }
  if (least > most && bounds.size() >= 2 * kFewest) {
    fit(bounds.first(bounds.size() / 2), result);
    fit(bounds.subspan(bounds.size() / 2), result);
    return;
  }
  const std::int64_t width = most - least;
  const std::uint64_t middle = bounds.front().time_ns + (bounds.back().time_ns - bounds.front().time_ns) / 2;
  result.knots.push_back({middle, least + width / 2});
  const auto uncertainty = static_cast<std::uint64_t>((width < 0 ? -width : width) / 2);
  result.uncertainty_ns = std::max(result.uncertainty_ns, uncertainty);
}

}  // namespace

ClockFit fit_clock(std::vector<ClockBound>& bounds) {
  std::sort(bounds.begin(), bounds.end(),
            [](const ClockBound& a, const ClockBound& b) { return a.time_ns < b.time_ns; });
  ClockFit result;
  fit(bounds, result);
  return result;
}

std::int64_t offset_at(const std::vector<HostClock::Knot>& knots, std::uint64_t time_ns) {
  if (knots.empty()) return 0;
  const auto after = std::upper_bound(knots.begin(), knots.end(), time_ns,
                                      [](std::uint64_t time, const HostClock::Knot& k) { return time < k.time_ns; });
  if (after == knots.begin()) return after->offset_ns;
  const HostClock::Knot& before = *(after - 1);
  if (after == knots.end()) return before.offset_ns;
  const double part =
      static_cast<double>(time_ns - before.time_ns) / static_cast<double>(after->time_ns - before.time_ns);
  return before.offset_ns + static_cast<std::int64_t>(part * static_cast<double>(after->offset_ns - before.offset_ns));
}

}  // namespace plumbline::reader
