#include "checks/patience.hpp"

#include <algorithm>
#include <ctime>

namespace plumbline::checks {
namespace {

// Any job may pause that long without anything being wrong.
constexpr std::uint64_t kLeast = 10'000'000'000;
constexpr std::uint64_t kTimesLongest = 3;

std::uint64_t monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Patience patience_of(const Subject& subject, Attempt attempt) {
  Patience patience;
  const auto& traces = subject.run().traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    if (!belongs(traces[index], attempt)) continue;
    const Ending& ending = subject.ending(index);
    std::uint64_t last_ns = std::max(traces[index].last_ns(), ending.ended() ? ending.time_ns : 0);
    // A process that runs on this machine has waited until now.
    if (ending.kind == EndingKind::kRunning) last_ns = std::max(last_ns, monotonic_now());
    patience.observed_ns = std::max(patience.observed_ns, subject.clock().since_start(index, last_ns));
    for (const reader::CallActivity& calls : subject.summaries()[index].calls) {
      patience.longest_ns = std::max(patience.longest_ns, calls.longest_ns);
    }
  }
  patience.limit_ns = std::max(kLeast, kTimesLongest * patience.longest_ns);
  return patience;
}

}  // namespace plumbline::checks
