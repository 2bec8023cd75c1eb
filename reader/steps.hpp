// Optimizer steps with their param groups and nesting, and the logical steps that are inferred from them.
//
// An optimizer step is a call of some optimizer's step(). A logical step is what a person means by "step 17": it may
// hold several of them (two optimizers in a chain, one call per param group, one optimizer per parameter). The rule:
// only outermost calls count, and a call whose key was already seen in the current logical step starts the next one.
// The key says what is stepped (the parameters), not which object does it; so an optimizer that is called once for each
// param group makes one logical step. Logical step s covers the time up to the end of its last outermost call. The
// sequence of calls is the same on every rank of a job, so the number is too, though the keys are not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reader/batch.hpp"
#include "reader/trace.hpp"

namespace plumbline::reader {

struct StepGroup {
  std::uint32_t index = 0;
  std::uint32_t groups = 0;
  double lr = 0, weight_decay = 0, beta1 = 0, beta2 = 0, eps = 0, momentum = 0;  // NaN: the optimizer has none
  double step = 0;                                                               // its own counter, before the step
  std::uint64_t params = 0, params_with_grad = 0, elements = 0;
};

struct OptimizerStep {
  std::uint64_t handle = 0;
  std::uint64_t name = 0;       // text: class of the optimizer
  std::uint64_t optimizer = 0;  // identity of the object, 0 not known
  std::uint64_t key = 0;        // identity of what is stepped, 0 not known
  std::uint64_t begin_ns = 0;   // 0: the begin was dropped or evicted
  std::uint64_t end_ns = 0;     // 0: the process ended inside
  std::uint64_t parent = 0;     // handle of the enclosing step on the thread, 0 outermost
  std::uint32_t depth = 0;
  std::uint32_t ring = 0;
  bool raised = false;
  std::int64_t logical_step = -1;
  std::vector<StepGroup> groups;
  Place place;
};

// Streaming join of begins, groups and ends; feed it every frame with kSteps | kStepGroups. Steps are emitted at their
// end, inner ones before outer ones.
class OptimizerStepJoin {
 public:
  using Visit = std::function<void(const OptimizerStep&)>;
  void add(const FrameView& frame, const Visit& visit);
  void finish(const Visit& visit);  // those that never ended

 private:
  void begin(const StepBatch& batch, std::size_t row);
  void end(const StepBatch& batch, std::size_t row, const Visit& visit);
  void group(const StepGroupBatch& batch, std::size_t row);

  std::unordered_map<std::uint64_t, OptimizerStep> open_;
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> stack_;  // by ring: handles under way
};

// The inference rule, apart from any trace.
class StepInference {
 public:
  // An outermost step has ended: gives its logical step. Without a key the optimizer's class stands in for it.
  std::int64_t outermost_end(std::uint64_t key, std::uint64_t name);
  // Steps that were lost (evicted): the number of logical steps that they are taken to have made.
  void skip(std::int64_t steps);

 private:
  std::unordered_set<std::uint64_t> seen_;
  std::int64_t current_ = 0;
};

// Logical steps of one trace on its own clock.
class StepTimeline {
 public:
  // Number of logical steps that have at least one optimizer step.
  std::int64_t count() const { return static_cast<std::int64_t>(ends_.size()); }
  // The logical step that a time belongs to; after the last one's end: count(), the step that was not finished.
  std::int64_t step_at(std::uint64_t time_ns) const;
  // Time covered by logical step `step`, both ends included.
  struct Window {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
  };
  Window window(std::int64_t step) const;
  // First step whose number is an estimate, because steps before it were evicted; -1: none.
  std::int64_t exact_until() const { return exact_until_; }

  void add(std::int64_t step, std::uint64_t end_ns);  // in order
  void set_exact_until(std::int64_t step) { exact_until_ = step; }

 private:
  std::vector<std::uint64_t> ends_;  // end of the last outermost optimizer step of each; non-decreasing
  std::int64_t exact_until_ = -1;
};

// Numbers optimizer steps as they end, over one trace from its start. Across an evicted stretch the number is an
// estimate: as many steps as the events in it make at the rate seen before.
class StepNumbering {
 public:
  // What is known to be missing, with the frame that the next steps come from.
  void missing(std::span<const EvictedRange> evicted);
  void end(const OptimizerStep& step);
  StepTimeline& timeline() { return timeline_; }

 private:
  StepTimeline timeline_;
  StepInference inference_;
  std::int64_t current_ = -1;
  std::uint64_t ends_ = 0;
  std::span<const EvictedRange> evicted_;
  std::size_t next_evicted_ = 0;
};

// What Trace::steps() keeps.
StepTimeline infer_steps(const Trace& trace);

// Optimizer steps of a trace, with their logical step, in the order of their ends; `visit` returns false to stop.
void read_optimizer_steps(const Trace& trace, const Query& window,
                          const std::function<bool(const OptimizerStep&)>& visit);

}  // namespace plumbline::reader
