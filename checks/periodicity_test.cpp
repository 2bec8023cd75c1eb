#include "checks/periodicity.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

using Signatures = std::vector<std::uint32_t>;

Signatures repeated(const Signatures& once, int times, const Signatures& before = {}) {
  Signatures all = before;
  for (int i = 0; i < times; ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}

TEST(PeriodTest, OneCallAStep) { EXPECT_EQ(period_of(repeated({4}, 20)), 1U); }

TEST(PeriodTest, TheShortestRepetitionIsTheStep) {
  EXPECT_EQ(period_of(repeated({1, 2, 3, 2}, 20)), 4U);
  EXPECT_EQ(period_of(repeated({1, 1, 1, 2}, 20)), 4U);
}

TEST(PeriodTest, SetUpBeforeTheLoopDoesNotCount) {
  EXPECT_EQ(period_of(repeated({1, 2, 3}, 30, {9, 9, 8, 7, 9, 8})), 3U);
}

TEST(PeriodTest, AnEvaluationNowAndThenDoesNotHideTheStep) {
  Signatures calls = repeated({1, 2, 3}, 40);
  calls.insert(calls.begin() + 60, {7, 7, 7});
  EXPECT_EQ(period_of(calls), 3U);
}

TEST(PeriodTest, WithoutRepetitionThereIsNone) {
  Signatures calls;
  std::uint32_t value = 1;
  for (int i = 0; i < 200; ++i) calls.push_back((value = value * 1103515245 + 12345) >> 16);
  EXPECT_EQ(period_of(calls), 0U);
  EXPECT_EQ(period_of({}), 0U);
  EXPECT_EQ(period_of(Signatures{1, 1}), 0U);
}

TEST(StepClockTest, OptimizerStepsMarkTheSteps) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 5; ++step) rank.step(100 * step + 90, 100 * step + 100);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const StepClock clock = step_clock(subject, 0);
  EXPECT_TRUE(clock.marked);
  ASSERT_EQ(clock.count(), 4);
  EXPECT_EQ(clock.duration(0), 100'000'000);
  EXPECT_EQ(clock.step_at(150'000'000), 1);
  EXPECT_EQ(clock.step_at(200'000'000), 1);
  EXPECT_EQ(clock.step_at(200'000'001), 2);
}

TEST(StepClockTest, CollectivesMarkTheStepsWhereNothingElseDoes) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  const auto world = rank.group("0", "default_pg", "0,1");
  rank.whole_call(1, 2, world, Op::kBroadcast);
  for (int step = 0; step < 10; ++step) {
    rank.whole_call(50 * step + 10, 50 * step + 11, world, Op::kAllGather, {.count = std::uint64_t(100 + step)});
    rank.whole_call(50 * step + 30, 50 * step + 31, world, Op::kAllReduce);
  }
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const StepClock clock = step_clock(subject, 0);
  EXPECT_FALSE(clock.marked);
  EXPECT_EQ(clock.calls, 2U);
  ASSERT_GE(clock.count(), 9);
  EXPECT_EQ(clock.duration(3), 50'000'000);
}

}  // namespace
}  // namespace plumbline::checks
