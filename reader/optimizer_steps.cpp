// The join of optimizer steps' begins, groups and ends.
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
