// The join of optimizer steps' begins, groups and ends, and the walk that numbers logical steps over a whole trace.
#include <algorithm>

#include "reader/merge.hpp"
#include "reader/steps.hpp"

namespace plumbline::reader {
namespace {

StepGroup group_of(const StepGroupBatch& batch, std::size_t i) {
  StepGroup group;
  group.index = static_cast<std::uint32_t>(batch.tag[i] & 0xffff);
  group.groups = static_cast<std::uint32_t>(batch.tag[i] >> 16 & 0xffff);
  group.lr = as_double(batch.lr[i]);
  group.weight_decay = as_double(batch.weight_decay[i]);
  group.beta1 = as_double(batch.beta1[i]);
  group.beta2 = as_double(batch.beta2[i]);
  group.eps = as_double(batch.eps[i]);
  group.momentum = as_double(batch.momentum[i]);
  group.step = as_double(batch.step[i]);
  group.params = batch.params[i];
  group.params_with_grad = batch.params_with_grad[i];
  group.elements = batch.elements[i];
  return group;
}

// Numbers the outermost steps of a trace as they end. Across an evicted stretch the number is an estimate: as many
// steps as the events in it make at the rate seen before.
class Numbering {
 public:
  Numbering(const Trace& trace, StepTimeline* timeline) : trace_(trace), timeline_(timeline) {}

  void number(OptimizerStep& step) {
    ++ends_;
    if (step.depth == 0) {
      skip_evicted(step.end_ns);
      step.logical_step = inference_.outermost_end(step.key, step.name);
      current_ = step.logical_step;
      if (timeline_ != nullptr) timeline_->add(current_, step.end_ns);
    }
  }

 private:
  void skip_evicted(std::uint64_t end_ns) {
    // evicted() is complete once the trace has been gone through: the caller sees to that.
    const std::vector<EvictedRange>& evicted = trace_.evicted();
    while (next_evicted_ < evicted.size() && evicted[next_evicted_].first_ns < end_ns) {
      const EvictedRange& range = evicted[next_evicted_++];
      const std::uint64_t lost = range.events[static_cast<std::size_t>(Kind::kStepEnd)];
      if (timeline_ != nullptr && timeline_->exact_until() < 0 && lost != 0) timeline_->set_exact_until(current_);
      const double per_step = ends_ != 0 ? static_cast<double>(ends_) / static_cast<double>(current_ + 1) : 1;
      inference_.skip(static_cast<std::int64_t>(static_cast<double>(lost) / per_step + 0.5));
    }
  }

  const Trace& trace_;
  StepTimeline* timeline_;
  StepInference inference_;
  std::int64_t current_ = -1;
  std::uint64_t ends_ = 0;
  std::size_t next_evicted_ = 0;
};

}  // namespace

void OptimizerStepJoin::begin(const StepBatch& batch, std::size_t i) {
  OptimizerStep& step = open_[batch.handle[i]];
  step.handle = batch.handle[i];
  step.name = batch.name[i];
  step.begin_ns = batch.time_ns[i];
  step.depth = static_cast<std::uint32_t>(batch.depth[i]);
  step.ring = batch.ring;
  step.place = batch.place;
  if (batch.optimizer[i] != 0) step.optimizer = batch.optimizer[i];
  if (batch.key[i] != 0) step.key = batch.key[i];
  std::vector<std::uint64_t>& stack = stack_[batch.ring];
  // What is deeper than this one has ended, though its end was lost.
  if (stack.size() > step.depth) stack.resize(step.depth);
  if (!stack.empty()) step.parent = stack.back();
  stack.push_back(step.handle);
}

void OptimizerStepJoin::group(const StepGroupBatch& batch, std::size_t i) {
  OptimizerStep& step = open_[batch.handle[i]];
  step.handle = batch.handle[i];
  if (batch.optimizer[i] != 0) step.optimizer = batch.optimizer[i];
  if (batch.key[i] != 0) step.key = batch.key[i];
  step.groups.push_back(group_of(batch, i));
}

void OptimizerStepJoin::end(const StepBatch& batch, std::size_t i, const Visit& visit) {
  OptimizerStep& step = open_[batch.handle[i]];
  step.handle = batch.handle[i];
  step.end_ns = batch.time_ns[i];
  step.name = batch.name[i];
  step.raised = batch.raised[i] != 0;
  step.depth = static_cast<std::uint32_t>(batch.depth[i]);
  if (step.begin_ns == 0) {
    step.ring = batch.ring;
    step.place = batch.place;
  }
  if (batch.optimizer[i] != 0) step.optimizer = batch.optimizer[i];
  if (batch.key[i] != 0) step.key = batch.key[i];
  std::vector<std::uint64_t>& stack = stack_[batch.ring];
  if (const auto it = std::find(stack.begin(), stack.end(), step.handle); it != stack.end())
    stack.erase(it, stack.end());
  std::sort(step.groups.begin(), step.groups.end(),
            [](const StepGroup& a, const StepGroup& b) { return a.index < b.index; });
  visit(step);
  open_.erase(batch.handle[i]);
}

void OptimizerStepJoin::add(const FrameView& frame, const Visit& visit) {
  for_each_row({.steps = frame.steps, .step_groups = frame.step_groups}, [&](const Row& row) {
    if (row.type == kStepGroups)
      group(frame.step_groups[row.batch], row.row);
    else if (frame.steps[row.batch].kind[row.row] == static_cast<std::uint8_t>(Kind::kStepBegin))
      begin(frame.steps[row.batch], row.row);
    else
      end(frame.steps[row.batch], row.row, visit);
    return true;
  });
}

void OptimizerStepJoin::finish(const Visit& visit) {
  std::vector<OptimizerStep> left;
  for (auto& [handle, step] : open_) left.push_back(std::move(step));
  std::sort(left.begin(), left.end(),
            [](const OptimizerStep& a, const OptimizerStep& b) { return a.begin_ns < b.begin_ns; });
  for (const OptimizerStep& step : left) visit(step);
  open_.clear();
  stack_.clear();
}

StepTimeline infer_steps(const Trace& trace) {
  trace.evicted();
  StepTimeline timeline;
  Numbering numbering(trace, &timeline);
  OptimizerStepJoin join;
  trace.read({.kinds = kSteps | kStepGroups}, [&](const FrameView& frame) {
    join.add(frame, [&](const OptimizerStep& step) {
      OptimizerStep numbered = step;
      numbering.number(numbered);
    });
    return true;
  });
  return timeline;
}

void read_optimizer_steps(const Trace& trace, const Query& window,
                          const std::function<bool(const OptimizerStep&)>& visit) {
  const StepTimeline& timeline = trace.steps();
  OptimizerStepJoin join;
  bool more = true;
  const auto give = [&](const OptimizerStep& step) {
    const std::uint64_t last = step.end_ns != 0 ? step.end_ns : step.begin_ns;
    if (!more || last < window.from_ns || step.begin_ns > window.to_ns) return;
    OptimizerStep numbered = step;
    numbered.logical_step = timeline.step_at(last);
    more = visit(numbered);
  };
  trace.read({.kinds = kSteps | kStepGroups}, [&](const FrameView& frame) {
    join.add(frame, give);
    return more;
  });
  join.finish(give);
}

}  // namespace plumbline::reader
