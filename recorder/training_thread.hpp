// Which of a process's threads trains, and at what pace, from the records that pass by: the one that last ran an
// outermost optimizer step, or, where there are none, the one that last called a collective.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "recorder/event.hpp"

namespace plumbline::recorder {

class TrainingThread {
 public:
  void note(std::uint32_t ring, const RecordHeader& record) noexcept {
    if (record.kind == Kind::kStepBegin && record.depth == 0) {
      if (has_steps_) note_interval(record.time_ns - last_step_ns_);
      last_step_ns_ = record.time_ns;
      has_steps_ = true;
      ring_ = ring;
    } else if (record.kind == Kind::kCollective && !has_steps_) {
      ring_ = ring;
    }
  }

  std::optional<std::uint32_t> ring() const noexcept { return ring_; }

  // Median of the latest steps, 0 while there are none.
  std::uint64_t step_ns() const noexcept {
    if (count_ == 0) return 0;
    auto sorted = intervals_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count_ / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
    return *middle;
  }

 private:
  void note_interval(std::uint64_t nanoseconds) noexcept {
    intervals_[next_] = nanoseconds;
    next_ = (next_ + 1) % intervals_.size();
    count_ = std::min(count_ + 1, intervals_.size());
  }

  std::optional<std::uint32_t> ring_;
  bool has_steps_ = false;
  std::uint64_t last_step_ns_ = 0;
  std::array<std::uint64_t, 33> intervals_{};
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace plumbline::recorder
