#include "checks/cadence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace plumbline::checks {
namespace {

constexpr std::size_t kHeld = 10;

using Durations = std::span<const std::int64_t>;

std::int64_t median_of(Durations values) { return checks::median_of({values.begin(), values.end()}); }

std::int64_t scatter_of(Durations values, std::int64_t middle) {
  std::vector<std::int64_t> distances;
  for (const std::int64_t value : values) distances.push_back(std::abs(value - middle));
  return checks::median_of(std::move(distances));
}

// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks_of(Durations values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (std::size_t i = first; i <= last; ++i) ranks[order[i]] = static_cast<double>(first + last) / 2 + 1;
    first = last + 1;
  }
  return ranks;
}

// The test's place drifts into the longer of both sides: the change is where fewest steps are on the wrong side of the
// middle between both medians.
std::size_t settled(Durations durations, std::size_t at) {
  const std::int64_t middle = (median_of(durations.first(at)) + median_of(durations.subspan(at))) / 2;
  auto wrong = static_cast<std::ptrdiff_t>(
      std::count_if(durations.begin(), durations.end(), [&](std::int64_t one) { return one <= middle; }));
  std::ptrdiff_t fewest = wrong;
  std::size_t best = 0;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    wrong += durations[i] > middle ? 1 : -1;
    if (wrong >= fewest) continue;
    fewest = wrong;
    best = i + 1;
  }
  return best >= kHeld && best + kHeld <= durations.size() ? best : at;
}

}  // namespace

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<CadenceChange> slowdown(Durations durations) {
  const std::size_t count = durations.size();
  if (count < 2 * kHeld) return std::nullopt;
  const std::vector<double> ranks = ranks_of(durations);
  const auto n = static_cast<double>(count);
  double sum = 0;
  double lowest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += 2 * ranks[i] - (n + 1);
    if (i + 1 >= kHeld && i + 1 + kHeld <= count && sum < lowest) {
      lowest = sum;
      at = i + 1;
    }
  }
  const double chance = 2 * std::exp(-6 * lowest * lowest / (n * n * n + n * n));
  if (at == 0 || chance > 1e-3) return std::nullopt;
  at = settled(durations, at);
  CadenceChange change{.at = at, .before = median_of(durations.first(at)), .after = median_of(durations.subspan(at))};
  change.scatter = std::max(scatter_of(durations.first(change.at), change.before),
                            scatter_of(durations.subspan(change.at), change.after));
  if (change.shift() * 10 < change.before || change.shift() < 4 * change.scatter) return std::nullopt;
  return change;
}

std::vector<std::size_t> stalled_steps(Durations durations) {
  std::vector<std::size_t> stalled;
  const std::int64_t middle = median_of(durations);
  std::vector<std::int64_t> excess;
  for (const std::int64_t duration : durations) excess.push_back(std::max<std::int64_t>(duration - middle, 0));
  std::vector<std::int64_t> sorted = excess;
  std::sort(sorted.begin(), sorted.end());
  // What nine in ten steps stay below.
  const std::int64_t usual = sorted.empty() ? 0 : sorted[(sorted.size() - 1) * 9 / 10];
  for (std::size_t step = 0; step < excess.size(); ++step)
    if (excess[step] >= 2 * middle && excess[step] >= 10 * usual) stalled.push_back(step);
  return stalled;
}

std::size_t warm_up_steps(Durations durations) {
  constexpr std::size_t kAlways = 3;
  const std::size_t most = std::max(kAlways, durations.size() / 5);
  const std::int64_t slow = median_of(durations) * 3 / 2;
  std::size_t steps = std::min(kAlways, durations.size());
  while (steps < durations.size() && steps < most && durations[steps] > slow) ++steps;
  return steps;
}

}  // namespace plumbline::checks
