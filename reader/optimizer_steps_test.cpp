#include <gtest/gtest.h>

#include <cmath>

#include "reader/steps.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::step_begin;
using testing::step_end;
using testing::step_group;

std::vector<OptimizerStep> steps_of(recorder::TraceBuilder& builder, const Query& window = {}) {
  builder.finish({});
  const Trace trace = testing::open_trace(builder.path());
  std::vector<OptimizerStep> steps;
  read_optimizer_steps(trace, window, [&](const OptimizerStep& step) {
    steps.push_back(step);
    return true;
  });
  return steps;
}

TEST(OptimizerStepsTest, GroupsAndSettingsAreJoined) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_begin(100, 1, 9));
  builder.add(0, step_group(110, 1, 77, 1, 2, 0.5));
  builder.add(0, step_group(111, 1, 77, 0, 2, 0.25));
  builder.add(0, step_end(200, 1, 9, 77));
  const auto steps = steps_of(builder);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].begin_ns, 100u);
  EXPECT_EQ(steps[0].end_ns, 200u);
  EXPECT_EQ(steps[0].key, 77u);
  EXPECT_EQ(steps[0].optimizer, 0xabcu);
  EXPECT_FALSE(steps[0].raised);
  ASSERT_EQ(steps[0].groups.size(), 2u);
  EXPECT_EQ(steps[0].groups[0].lr, 0.25);
  EXPECT_EQ(steps[0].groups[1].lr, 0.5);
  EXPECT_EQ(steps[0].groups[1].groups, 2u);
  EXPECT_TRUE(std::isnan(steps[0].groups[0].momentum));
  EXPECT_EQ(steps[0].groups[0].params_with_grad, 3u);
}

TEST(OptimizerStepsTest, InnerStepsNameTheirParentAndShareItsStep) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_begin(100, 1, 9, 0));
  builder.add(0, step_begin(110, 2, 8, 1));
  builder.add(0, step_end(120, 2, 8, 6, 1));
  builder.add(0, step_end(130, 1, 9, 5, 0));
  builder.add(0, step_begin(140, 3, 9, 0));
  builder.add(0, step_end(150, 3, 9, 5, 0));
  const auto steps = steps_of(builder);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].handle, 2u);
  EXPECT_EQ(steps[0].parent, 1u);
  EXPECT_EQ(steps[0].logical_step, 0);
  EXPECT_EQ(steps[1].parent, 0u);
  EXPECT_EQ(steps[1].logical_step, 0);
  EXPECT_EQ(steps[2].logical_step, 1);
}

TEST(OptimizerStepsTest, AStepThatNeverEndedComesLast) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_begin(100, 1, 9));
  builder.add(0, step_end(110, 1, 9, 5));
  builder.add(0, step_begin(120, 2, 9));
  const auto steps = steps_of(builder);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].end_ns, 0u);
  EXPECT_EQ(steps[1].logical_step, 1);
}

TEST(OptimizerStepsTest, ARaisedStepSaysSo) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_begin(100, 1, 9));
  builder.add(0, step_end(110, 1, 9, 5, 0, true));
  EXPECT_TRUE(steps_of(builder).at(0).raised);
}

TEST(OptimizerStepsTest, AnEndWithoutItsBeginIsStillAStep) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_end(110, 1, 9, 5));
  builder.add(0, step_begin(120, 2, 9));
  builder.add(0, step_end(130, 2, 9, 5));
  const auto steps = steps_of(builder);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].begin_ns, 0u);
  EXPECT_EQ(steps[0].logical_step, 0);
  EXPECT_EQ(steps[1].logical_step, 1);
}

TEST(OptimizerStepsTest, ALostEndDoesNotNestWhatFollows) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, step_begin(100, 1, 9));
  builder.add(0, step_begin(120, 2, 9));
  builder.add(0, step_end(130, 2, 9, 5));
  const auto steps = steps_of(builder);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].handle, 2u);
  EXPECT_EQ(steps[0].parent, 0u);
}

TEST(OptimizerStepsTest, OnlyStepsWithinTheWindow) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  for (std::uint64_t i = 0; i < 4; ++i) {
    builder.add(0, step_begin(100 + i * 100, i + 1, 9));
    builder.add(0, step_end(150 + i * 100, i + 1, 9, 5));
  }
  const auto steps = steps_of(builder, {.from_ns = 200, .to_ns = 320});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].logical_step, 1) << "numbers do not depend on the window";
  EXPECT_EQ(steps[1].logical_step, 2);
}

TEST(OptimizerStepsTest, AcrossAnEvictedStretchNumbersAreEstimated) {
  StepNumbering numbering;
  std::vector<EvictedRange> evicted;
  const auto end = [&](std::uint64_t time_ns) {
    OptimizerStep step;
    step.end_ns = time_ns;
    step.key = 5;
    numbering.missing(evicted);
    numbering.end(step);
  };
  for (std::uint64_t i = 1; i <= 4; ++i) end(i * 100);
  EvictedRange range;
  range.first_ns = 450;
  range.last_ns = 1440;
  range.events.resize(recorder::kKindCount);
  range.events[static_cast<std::size_t>(Kind::kStepEnd)] = 10;
  evicted.push_back(range);
  end(1500);
  EXPECT_EQ(numbering.timeline().count(), 4 + 10 + 1);
  EXPECT_EQ(numbering.timeline().step_at(1500), 14);
  EXPECT_EQ(numbering.timeline().exact_until(), 4);
}

}  // namespace
}  // namespace plumbline::reader
