#include "reader/steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reader/collectives.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::step_begin;
using testing::step_end;
using testing::step_group;

constexpr std::uint64_t kName = 0x1111;

// Keys of the outermost steps in, logical steps out.
std::vector<std::int64_t> infer(const std::vector<std::uint64_t>& keys) {
  StepInference inference;
  std::vector<std::int64_t> steps;
  for (const std::uint64_t key : keys) steps.push_back(inference.outermost_end(key, kName));
  return steps;
}

using Steps = std::vector<std::int64_t>;

TEST(StepInferenceTest, OneOptimizer) { EXPECT_EQ(infer({7, 7, 7, 7}), (Steps{0, 1, 2, 3})); }

TEST(StepInferenceTest, AChainOfTwoOptimizers) {
  // Muon for the matrices, AdamW for the rest.
  EXPECT_EQ(infer({1, 2, 1, 2, 1, 2}), (Steps{0, 0, 1, 1, 2, 2}));
}

TEST(StepInferenceTest, OncePerParamGroup) {
  // DeepSpeed calls the same optimizer for one group after the other; the keys differ.
  EXPECT_EQ(infer({1, 2, 3, 1, 2, 3}), (Steps{0, 0, 0, 1, 1, 1}));
}

TEST(StepInferenceTest, OneOptimizerPerParameterInAnyOrder) {
  EXPECT_EQ(infer({1, 2, 3, 3, 1, 2, 2, 3, 1}), (Steps{0, 0, 0, 1, 1, 1, 2, 2, 2}));
}

TEST(StepInferenceTest, AGanWithFiveDiscriminatorSteps) {
  EXPECT_EQ(infer({1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1}), (Steps{0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 9, 10}));
}

TEST(StepInferenceTest, WithoutAKeyTheClassStandsIn) {
  StepInference inference;
  EXPECT_EQ(inference.outermost_end(0, 10), 0);
  EXPECT_EQ(inference.outermost_end(0, 20), 0);
  EXPECT_EQ(inference.outermost_end(0, 10), 1);
}

TEST(StepInferenceTest, LostStepsAreCountedIn) {
  StepInference inference;
  EXPECT_EQ(inference.outermost_end(1, 0), 0);
  inference.skip(10);
  EXPECT_EQ(inference.outermost_end(1, 0), 11);
  EXPECT_EQ(inference.outermost_end(1, 0), 12);
}

TEST(StepTimelineTest, AStepReachesToItsLastEnd) {
  StepTimeline timeline;
  timeline.add(0, 100);
  timeline.add(0, 120);
  timeline.add(1, 200);
  EXPECT_EQ(timeline.count(), 2);
  EXPECT_EQ(timeline.step_at(0), 0);
  EXPECT_EQ(timeline.step_at(120), 0);
  EXPECT_EQ(timeline.step_at(121), 1);
  EXPECT_EQ(timeline.step_at(200), 1);
  EXPECT_EQ(timeline.step_at(201), 2) << "the step that was not finished";
  EXPECT_EQ(timeline.window(0).from_ns, 0u);
  EXPECT_EQ(timeline.window(0).to_ns, 120u);
  EXPECT_EQ(timeline.window(1).from_ns, 121u);
  EXPECT_EQ(timeline.window(2).from_ns, 201u);
  EXPECT_GT(timeline.window(-1).from_ns, timeline.window(-1).to_ns) << "holds nothing";
  EXPECT_GE(timeline.window(9).from_ns, timeline.window(9).to_ns);
}

// A trace of one rank under construction. Every call takes 10 ns; addresses, and so keys, differ between ranks.
class RankTrace {
 public:
  RankTrace(const std::string& directory, int rank)
      : builder_(directory, {.pid = static_cast<std::uint32_t>(100 + rank), .rank = rank, .world_size = 2}),
        salt_(static_cast<std::uint64_t>(rank + 1) << 32) {}

  // A step with the steps inside it, as begin, groups and end.
  void step(const std::string& name, std::uint64_t key,
            const std::vector<std::pair<std::string, std::uint64_t>>& inner = {}) {
    call(name, key, 0, [&] {
      for (const auto& [inner_name, inner_key] : inner) call(inner_name, inner_key, 1, [] {});
    });
  }
  // A step around a closure that runs a collective (forward and backward inside).
  void closure(const std::string& name, std::uint64_t key) {
    call(name, key, 0, [&] { collective(); });
  }
  void collective() {
    const std::uint64_t id = ++handle_;
    builder_.add(0, testing::collective({.time_ns = now_ += 10, .id = id, .seq = seq_++}));
    builder_.add(1, testing::end_of(now_ += 10, id));
  }
  void flush() { builder_.flush(); }
  Trace done() {
    builder_.finish({});
    return testing::open_trace(builder_.path());
  }

 private:
  template <class Inside>
  void call(const std::string& name, std::uint64_t key, std::uint8_t depth, Inside&& inside) {
    const std::uint64_t handle = ++handle_;
    const std::uint64_t text = builder_.text(name);
    builder_.add(0, step_begin(now_ += 10, handle, text, depth));
    builder_.add(0, step_group(now_ += 10, handle, key ^ salt_, 0, 1, 0.1));
    inside();
    builder_.add(0, step_end(now_ += 10, handle, text, key ^ salt_, depth));
  }

  recorder::TraceBuilder builder_;
  std::uint64_t salt_;
  std::uint64_t now_ = 1'000'000'000;
  std::uint64_t handle_ = 0;
  std::uint64_t seq_ = 0;
};

std::vector<std::int64_t> steps_of_collectives(const Trace& trace) {
  Steps steps;
  read_collectives(trace, {}, [&](const Collective& collective) {
    steps.push_back(collective.step);
    return true;
  });
  return steps;
}

// Both ranks are given the same calls; the numbers must be the same on both.
template <class Program>
Steps logical_steps(Program&& program, std::int64_t expected_count) {
  testing::TempDir directory;
  Steps first;
  for (int rank = 0; rank < 2; ++rank) {
    RankTrace trace(directory.path(), rank);
    program(trace);
    const Trace done = trace.done();
    EXPECT_EQ(done.steps().count(), expected_count);
    Steps steps;
    read_optimizer_steps(done, {}, [&](const OptimizerStep& step) {
      if (step.depth == 0) steps.push_back(step.logical_step);
      return true;
    });
    if (rank == 0) first = steps;
    EXPECT_EQ(steps, first);
  }
  return first;
}

TEST(LogicalStepTest, Plain) {
  const auto program = [](RankTrace& trace) {
    for (int i = 0; i < 3; ++i) trace.step("AdamW", 5);
  };
  EXPECT_EQ(logical_steps(program, 3), (Steps{0, 1, 2}));
}

TEST(LogicalStepTest, NestedStepsCountOnce) {
  const auto program = [](RankTrace& trace) {
    for (int i = 0; i < 3; ++i) trace.step("ZeroRedundancyOptimizer", 5, {{"AdamW", 6}});
  };
  EXPECT_EQ(logical_steps(program, 3), (Steps{0, 1, 2}));
}

TEST(LogicalStepTest, AContainerOfSeveral) {
  const auto program = [](RankTrace& trace) {
    for (int i = 0; i < 2; ++i) trace.step("OptimizersContainer", 5, {{"AdamW", 6}, {"AdamW", 7}, {"AdamW", 6}});
  };
  EXPECT_EQ(logical_steps(program, 2), (Steps{0, 1}));
}

TEST(LogicalStepTest, Chained) {
  const auto program = [](RankTrace& trace) {
    for (int i = 0; i < 3; ++i) {
      trace.step("Muon", 1);
      trace.step("AdamW", 2);
      trace.flush();
    }
  };
  EXPECT_EQ(logical_steps(program, 3), (Steps{0, 0, 1, 1, 2, 2}));
}

TEST(LogicalStepTest, OncePerParamGroup) {
  const auto program = [](RankTrace& trace) {
    for (int i = 0; i < 2; ++i)
      for (std::uint64_t group = 1; group <= 3; ++group) trace.step("FusedAdam", group);
  };
  EXPECT_EQ(logical_steps(program, 2), (Steps{0, 0, 0, 1, 1, 1}));
}

TEST(LogicalStepTest, WorkBelongsToTheStepThatFollowsIt) {
  testing::TempDir directory;
  RankTrace trace(directory.path(), 0);
  for (int i = 0; i < 3; ++i) {
    trace.collective();
    trace.step("AdamW", 5);
  }
  trace.collective();
  EXPECT_EQ(steps_of_collectives(trace.done()), (Steps{0, 1, 2, 3}));
}

TEST(LogicalStepTest, AClosureRunsInsideItsOwnStep) {
  testing::TempDir directory;
  RankTrace trace(directory.path(), 0);
  for (int i = 0; i < 3; ++i) trace.closure("AdamW", 5);
  EXPECT_EQ(steps_of_collectives(trace.done()), (Steps{0, 1, 2}));
}

}  // namespace
}  // namespace plumbline::reader
