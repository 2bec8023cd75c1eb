#include "checks/memory_profile.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Source;
using testing::FakeRank;

MemoryProfile profile_of(const std::function<void(FakeRank&)>& job) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  job(rank);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  return memory_profile_of(run.traces()[0]);
}

TEST(MemoryProfileTest, PeaksAreByStepAndInAll) {
  const MemoryProfile profile = profile_of([](FakeRank& rank) {
    rank.alloc(1, 0x1000, 100);
    rank.step(2, 3);
    rank.alloc(4, 0x2000, 300);
    rank.alloc(5, 0x3000, 50);
    rank.free(6, 0x2000);
    rank.step(7, 8);
    rank.free(9, 0x3000);
  });
  ASSERT_EQ(profile.pools.size(), 1U);
  const PoolProfile& pool = profile.pools[0];
  EXPECT_EQ(pool.peak_bytes, 450U);
  ASSERT_GE(pool.steps.size(), 2U);
  EXPECT_EQ(pool.steps[0].peak, 100U);
  EXPECT_EQ(pool.steps[1].peak, 450U);
  EXPECT_EQ(pool.steps[1].end, 150U);
  EXPECT_EQ(pool.steps[1].largest, 300U);
  ASSERT_TRUE(pool.at_peak);
  EXPECT_EQ(pool.at_peak->bytes, 450U);
  EXPECT_EQ(pool.at_peak->blocks, 3U);
  ASSERT_FALSE(pool.at_peak->largest.empty());
  EXPECT_EQ(pool.at_peak->largest[0].size, 300U);
}

TEST(MemoryProfileTest, PhasesAreToldByTheirPeakTheHighestFirst) {
  const MemoryProfile profile = profile_of([](FakeRank& rank) {
    const auto forward = rank.open_range(1, "forward");
    rank.alloc(2, 0x1000, 100);
    rank.close_range(3, forward, "forward");
    const auto loss = rank.open_range(4, "loss");
    rank.alloc(5, 0x2000, 500);
    rank.close_range(6, loss, "loss");
  });
  ASSERT_EQ(profile.pools.size(), 1U);
  ASSERT_EQ(profile.pools[0].phases.size(), 2U);
  EXPECT_EQ(profile.pools[0].phases[0].bytes, 600U);
  EXPECT_EQ(profile.pools[0].phases[1].bytes, 100U);
}

TEST(MemoryProfileTest, ARefusedRequestComesWithWhatWasHeld) {
  const MemoryProfile profile = profile_of([](FakeRank& rank) {
    rank.alloc(1, 0x1000, 100);
    rank.fail(2, 1 << 30);
    rank.free(3, 0x1000);
  });
  ASSERT_EQ(profile.refused.size(), 1U);
  EXPECT_EQ(profile.refused[0].event.block.size, 1U << 30);
  EXPECT_EQ(profile.refused[0].live.bytes, 100U);
  EXPECT_FALSE(profile.refused[0].went_on);
}

TEST(MemoryProfileTest, AJobThatGotTheSameLaterWentOn) {
  const MemoryProfile profile = profile_of([](FakeRank& rank) {
    rank.fail(2, 1 << 30);
    rank.alloc(3, 0x1000, 1 << 30);
  });
  ASSERT_EQ(profile.refused.size(), 1U);
  EXPECT_TRUE(profile.refused[0].went_on);
}

TEST(MemoryProfileTest, FewStepsJudgeNoLeak) {
  EXPECT_FALSE(profile_of([](FakeRank& rank) {
                 rank.alloc(1, 0x1000, 100);
                 rank.step(2, 3);
               }).leak_judged);
}

}  // namespace
}  // namespace plumbline::checks
