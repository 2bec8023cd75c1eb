#include "checks/straggler_growth.hpp"

#include <algorithm>
#include <vector>

namespace plumbline::checks {
namespace {

// On each side of the change.
constexpr std::size_t kLooked = 100;

// What each of the steps asked for, from the `from`th duration on.
std::vector<std::int64_t> bytes_by_step(const StragglerScene& scene, std::size_t from, std::size_t to) {
  const reader::Trace& trace = scene.subject.run().traces()[scene.reference];
  const auto begin = static_cast<std::size_t>(scene.first_step - scene.steps.first);
  std::vector<std::uint64_t> ends;
  for (std::size_t step = from; step <= to; ++step) {
    const double seconds = reader::RunClock::seconds(scene.steps.ends[begin + step]);
    ends.push_back(scene.subject.clock().trace_time(scene.reference, seconds));
  }
  std::vector<std::int64_t> bytes(to - from);
  const reader::Query query{.kinds = reader::kAllocations, .from_ns = ends.front(), .to_ns = ends.back()};
  trace.read(query, [&](const reader::FrameView& frame) {
    for (const reader::AllocationBatch& batch : frame.allocations) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        const auto after = std::upper_bound(ends.begin(), ends.end(), batch.time_ns[row]);
        const bool asks = static_cast<recorder::Kind>(batch.kind[row]) == recorder::Kind::kAlloc;
        if (!asks || after == ends.begin() || after == ends.end()) continue;
        bytes[static_cast<std::size_t>(after - ends.begin()) - 1] += static_cast<std::int64_t>(batch.size[row]);
      }
    }
    return true;
  });
  return bytes;
}

}  // namespace

double work_growth(const StragglerScene& scene, const CadenceChange& change) {
  const std::size_t from = change.at > kLooked ? change.at - kLooked : 0;
  const std::size_t to = std::min(change.at + kLooked, scene.durations.size());
  const std::int64_t before = median_of(bytes_by_step(scene, from, change.at));
  const std::int64_t after = median_of(bytes_by_step(scene, change.at, to));
  if (before <= 0 || after <= before) return 0;
  return static_cast<double>(after - before) / static_cast<double>(before);
}

}  // namespace plumbline::checks
