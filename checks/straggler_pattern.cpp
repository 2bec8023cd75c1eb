#include "checks/straggler_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "checks/cadence.hpp"

namespace plumbline::checks {
namespace {

constexpr double kLeastShare = 0.05;
constexpr double kDominant = 0.7;
constexpr std::int64_t kMs = 1'000'000;

using Which = std::function<bool(const LateStep&)>;

std::int64_t all_lost(const std::vector<LateStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0},
                         [](std::int64_t sum, const LateStep& step) { return sum + step.all_lost; });
}

Straggling collect(Pattern pattern, const std::vector<LateStep>& steps, const PatternScale& scale, const Which& which) {
  Straggling found;
  found.pattern = pattern;
  std::map<std::size_t, std::int64_t> by_trace;
  std::vector<std::int64_t> losses;
  for (std::size_t place = 0; place < steps.size(); ++place) {
    if (!which(steps[place])) continue;
    found.steps.push_back(place);
    found.lost += steps[place].lost;
    losses.push_back(steps[place].lost);
    by_trace[steps[place].late] += steps[place].lost;
  }
  found.typical = median_of(std::move(losses));
  found.share = scale.total > 0 ? static_cast<double>(found.lost) / static_cast<double>(scale.total) : 0;
  for (const auto& [trace, lost] : by_trace) found.traces.push_back(trace);
  std::sort(found.traces.begin(), found.traces.end(),
            [&](std::size_t a, std::size_t b) { return by_trace[a] > by_trace[b]; });
  return found;
}

double correlation(const std::vector<const LateStep*>& steps) {
  const auto count = static_cast<double>(steps.size());
  double x = 0;
  double y = 0;
  for (const LateStep* step : steps) {
    x += step->excess / count;
    y += static_cast<double>(step->lost_by_busiest) / count;
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const LateStep* step : steps) {
    const double dx = step->excess - x;
    const double dy = static_cast<double>(step->lost_by_busiest) - y;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::optional<Straggling> follows_work(const std::vector<LateStep>& steps, const PatternScale& scale) {
  constexpr std::size_t kEnough = 8;
  constexpr double kClose = 0.8;
  std::vector<const LateStep*> uneven;
  std::int64_t by_busiest = 0;
  for (const LateStep& step : steps) {
    if (step.excess <= 0) continue;
    uneven.push_back(&step);
    by_busiest += step.lost_by_busiest;
  }
  if (uneven.size() < kEnough) return std::nullopt;
  const double close = correlation(uneven);
  if (close < kClose || static_cast<double>(by_busiest) < kDominant * static_cast<double>(all_lost(steps)))
    return std::nullopt;
  const std::int64_t least = least_loss(scale.step_time);
  Straggling found = collect(Pattern::kWork, steps, scale, [&](const LateStep& step) {
    return step.excess > 0 && step.late == step.busiest && step.lost >= least;
  });
  found.correlation = close;
  if (found.steps.size() < kEnough || found.share < kLeastShare) return std::nullopt;
  return found;
}

std::optional<Straggling> same_ranks(const StepBook& book, const PatternScale& scale) {
  const std::vector<RankLoss>& ranks = book.ranks();
  const auto steps = static_cast<std::int64_t>(book.steps().size());
  std::int64_t lost = 0;
  std::int64_t worst = 0;
  std::vector<std::size_t> slow;
  for (std::size_t trace = 0; trace < ranks.size(); ++trace) {
    if (2 * ranks[trace].steps_late < steps) continue;
    slow.push_back(trace);
    lost += ranks[trace].lost;
    worst = std::max(worst, ranks[trace].lost);
  }
  // If most ranks are late, in turn, no rank is slow.
  if (slow.empty() || 2 * slow.size() > ranks.size()) return std::nullopt;
  if (static_cast<double>(lost) < kDominant * static_cast<double>(all_lost(book.steps()))) return std::nullopt;
  if (static_cast<double>(worst) < kLeastShare * static_cast<double>(scale.total)) return std::nullopt;
  const std::int64_t least = least_loss(scale.step_time);
  Straggling found = collect(Pattern::kFixed, book.steps(), scale, [&](const LateStep& step) {
    return step.lost >= least && std::find(slow.begin(), slow.end(), step.late) != slow.end();
  });
  std::sort(slow.begin(), slow.end(), [&](std::size_t a, std::size_t b) { return ranks[a].lost > ranks[b].lost; });
  found.traces = slow;
  return found;
}

std::optional<Straggling> same_host(const StepBook& book, const PatternScale& scale) {
  if (std::adjacent_find(scale.host.begin(), scale.host.end(), std::not_equal_to<>()) == scale.host.end())
    return std::nullopt;
  const std::int64_t least = least_loss(scale.step_time);
  std::map<std::size_t, std::int64_t> lost;
  for (std::size_t trace = 0; trace < scale.host.size(); ++trace) lost[scale.host[trace]] += book.ranks()[trace].lost;
  const auto worst =
      std::max_element(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (static_cast<double>(worst->second) < kDominant * static_cast<double>(all_lost(book.steps()))) return std::nullopt;
  Straggling found = collect(Pattern::kHost, book.steps(), scale, [&](const LateStep& step) {
    return step.lost >= least && scale.host[step.late] == worst->first;
  });
  // Of a single rank it is that rank's doing, as far as one can tell.
  if (found.traces.size() < 2 || 2 * found.steps.size() < book.steps().size() || found.share < kLeastShare)
    return std::nullopt;
  return found;
}

bool shares_one_host(const std::vector<std::size_t>& traces, const PatternScale& scale) {
  const std::size_t host = scale.host[traces.front()];
  return traces.size() > 1 &&
         std::all_of(traces.begin(), traces.end(), [&](std::size_t trace) { return scale.host[trace] == host; }) &&
         std::any_of(scale.host.begin(), scale.host.end(), [&](std::size_t other) { return other != host; });
}

// A delay that somebody causes tends to have its own size; what the system's scheduler does to a process has any.
bool stands_out(const std::vector<LateStep>& steps, const Straggling& found) {
  constexpr std::int64_t kPlain = 20 * kMs;
  if (found.typical >= kPlain) return true;
  std::vector<std::int64_t> distances;
  for (const std::size_t place : found.steps) distances.push_back(std::abs(steps[place].lost - found.typical));
  return found.steps.size() >= 8 && 4 * median_of(std::move(distances)) <= found.typical;
}

std::optional<Straggling> some_steps(const std::vector<LateStep>& steps, const PatternScale& scale) {
  constexpr std::size_t kEnough = 4;
  constexpr std::int64_t kAboveUsual = 8;
  std::vector<std::int64_t> losses;
  losses.reserve(steps.size());
  for (const LateStep& step : steps) losses.push_back(step.lost);
  const std::int64_t usual = median_of(std::move(losses));
  const std::int64_t least = std::max(least_loss(scale.step_time), kAboveUsual * usual);
  // A pause is one wait; many short ones are what a busy machine does to every step.
  const auto late = [&](const LateStep& step) { return step.lost >= least && 2 * step.worst.lost >= step.lost; };
  Straggling found = collect(Pattern::kMoving, steps, scale, late);
  if (found.steps.size() < kEnough || found.share < kLeastShare || !stands_out(steps, found)) return std::nullopt;
  const auto by_first = std::count_if(found.steps.begin(), found.steps.end(),
                                      [&](std::size_t place) { return steps[place].late == found.traces.front(); });
  if (5 * by_first < 4 * static_cast<std::ptrdiff_t>(found.steps.size())) {
    if (shares_one_host(found.traces, scale)) found.pattern = Pattern::kHost;
    return found;
  }
  return collect(Pattern::kFixed, steps, scale,
                 [&](const LateStep& step) { return late(step) && step.late == found.traces.front(); });
}

// So much waiting that it deserves a word, though it favours nobody.
std::optional<Straggling> by_turns(const std::vector<LateStep>& steps, const PatternScale& scale) {
  constexpr std::int64_t kLong = 50 * kMs;
  constexpr double kMuch = 0.2;
  Straggling found = collect(Pattern::kTurns, steps, scale, [](const LateStep& step) { return step.lost > 0; });
  if (found.typical < kLong || found.share < kMuch || 2 * found.steps.size() < steps.size()) return std::nullopt;
  return found;
}

}  // namespace

std::int64_t least_loss(std::int64_t step_time) { return std::max(2 * kMs, step_time / 20); }

std::optional<Straggling> find_straggling(const StepBook& book, const PatternScale& scale) {
  if (auto found = follows_work(book.steps(), scale)) return found;
  if (auto found = same_ranks(book, scale)) {
    if (shares_one_host(found->traces, scale)) found->pattern = Pattern::kHost;
    return found;
  }
  if (auto found = same_host(book, scale)) return found;
  if (auto found = some_steps(book.steps(), scale)) return found;
  return by_turns(book.steps(), scale);
}

}  // namespace plumbline::checks
