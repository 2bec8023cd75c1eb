#include "reader/steps.hpp"

#include <algorithm>

namespace plumbline::reader {

std::int64_t StepInference::outermost_end(std::uint64_t key, std::uint64_t name) {
  // Keys are hashes of addresses, names are hashes of texts: the two do not meet.
  const std::uint64_t identity = key != 0 ? key : name;
  if (!seen_.insert(identity).second) {
    ++current_;
    seen_ = {identity};
  }
  return current_;
}

void StepInference::skip(std::int64_t steps) { current_ += steps; }

void StepTimeline::add(std::int64_t step, std::uint64_t end_ns) {
  if (step < 0 || step < count() - 1) return;
  // Steps in between were evicted: they have no time of their own.
  while (count() <= step) ends_.push_back(ends_.empty() ? 0 : ends_.back());
  ends_.back() = std::max(ends_.back(), end_ns);
}

std::int64_t StepTimeline::step_at(std::uint64_t time_ns) const {
  return std::lower_bound(ends_.begin(), ends_.end(), time_ns) - ends_.begin();
}

StepTimeline::Window StepTimeline::window(std::int64_t step) const {
  if (step < 0) return {1, 0};
  const auto s = static_cast<std::size_t>(step);
  Window window{0, std::numeric_limits<std::uint64_t>::max()};
  if (s > 0) window.from_ns = s <= ends_.size() ? ends_[s - 1] + 1 : window.to_ns;
  if (s < ends_.size()) window.to_ns = ends_[s];
  return window;
}

void StepNumbering::missing(std::span<const EvictedRange> evicted) { evicted_ = evicted; }

void StepNumbering::end(const OptimizerStep& step) {
  if (step.end_ns == 0) return;
  ++ends_;
  if (step.depth != 0) return;
  while (next_evicted_ < evicted_.size() && evicted_[next_evicted_].first_ns < step.end_ns) {
    const std::uint64_t lost = evicted_[next_evicted_++].events[static_cast<std::size_t>(Kind::kStepEnd)];
    if (lost == 0) continue;
    if (timeline_.exact_until() < 0) timeline_.set_exact_until(timeline_.count());
    const double per_step = ends_ > 1 ? static_cast<double>(ends_ - 1) / static_cast<double>(current_ + 1) : 1;
    inference_.skip(static_cast<std::int64_t>(static_cast<double>(lost) / per_step + 0.5));
  }
  current_ = inference_.outermost_end(step.key, step.name);
  timeline_.add(current_, step.end_ns);
}

StepTimeline infer_steps(const Trace& trace) {
  StepNumbering numbering;
  OptimizerStepJoin join;
  trace.read({.kinds = kSteps | kStepGroups}, [&](const FrameView& frame) {
    numbering.missing(frame.evicted);
    join.add(frame, [&](const OptimizerStep& step) { numbering.end(step); });
    return true;
  });
  return std::move(numbering.timeline());
}

}  // namespace plumbline::reader
