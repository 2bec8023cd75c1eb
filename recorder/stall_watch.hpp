// When a training thread counts as stalled: no event of it for a time that also fits its pace. It is then looked at
// once, and again at growing intervals while it stays so.
//
//   StallWatch watch(60'000'000'000);
//   if (const auto stalled_ns = watch.look(now, ring.head, pace)) take_stacks(*stalled_ns);
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace plumbline::recorder {

class StallWatch {
 public:
  // `least_ns`: no shorter silence is a stall; 0 switches the watch off.
  explicit StallWatch(std::uint64_t least_ns) : least_ns_(least_ns) {}

  // `progress`: any number that changes with every event. `step_ns`: how long a step usually takes, 0 not known. The
  // length of the stall when it is time to look at it.
  std::optional<std::uint64_t> look(std::uint64_t now_ns, std::uint64_t progress, std::uint64_t step_ns) {
    if (least_ns_ == 0 || looks_ == kMostLooks) return std::nullopt;
    if (progress != progress_ || since_ns_ == 0) {
      progress_ = progress;
      since_ns_ = now_ns;
      next_ns_ = 0;
      return std::nullopt;
    }
    const std::uint64_t stalled_ns = now_ns - since_ns_;
    if (stalled_ns < std::max({next_ns_, least_ns_, kSteps * step_ns})) return std::nullopt;
    next_ns_ = kGrowth * stalled_ns;
    ++looks_;
    return stalled_ns;
  }

 private:
  static constexpr std::uint64_t kSteps = 10;
  static constexpr std::uint64_t kGrowth = 2;
  static constexpr int kMostLooks = 64;  // in the life of a process: they are never evicted from its trace

  std::uint64_t least_ns_;
  std::uint64_t progress_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t next_ns_ = 0;
  int looks_ = 0;
};

}  // namespace plumbline::recorder
