#include "checks/memory_leak.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/memory_profile.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

constexpr std::uint64_t kMiB = 1 << 20;

// `made` is called within each step, with its number and a time in it.
std::vector<Leak> leaks_of(int steps, const std::function<void(FakeRank&, int step, double at)>& made) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.alloc(0, 0x10, 64 * kMiB);
  for (int step = 0; step < steps; ++step) {
    made(rank, step, 10.0 * step + 1);
    rank.step(10 * step + 8, 10 * step + 9);
  }
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  return memory_profile_of(run.traces()[0]).leaks;
}

std::uint64_t place(int step) { return 0x100000 + static_cast<std::uint64_t>(step) * kMiB * 4; }

TEST(MemoryLeakTest, WhatEveryStepLeavesBehindIsALeak) {
  const auto leaks = leaks_of(20, [](FakeRank& rank, int step, double at) { rank.alloc(at, place(step), kMiB); });
  ASSERT_EQ(leaks.size(), 1U);
  const Leak& leak = leaks[0];
  EXPECT_EQ(leak.bytes_per_step(), kMiB);
  EXPECT_EQ(leak.leaving_steps, leak.last_step - leak.first_step + 1);
  EXPECT_GE(leak.first_step, 1) << "steps of the warm-up are left out";
  ASSERT_EQ(leak.classes.size(), 1U);
  EXPECT_EQ(leak.classes[0].least, kMiB);
  EXPECT_EQ(leak.classes[0].most, kMiB);
  EXPECT_GT(leak.live_last, leak.live_then);
}

TEST(MemoryLeakTest, WhatIsFreedInItsStepIsNone) {
  EXPECT_TRUE(leaks_of(20, [](FakeRank& rank, int step, double at) {
                rank.alloc(at, place(step), kMiB);
                rank.free(at + 2, place(step));
              }).empty());
}

TEST(MemoryLeakTest, NorWhatIsHeldForSomeStepsAndThenFreed) {
  constexpr int kHeld = 5;
  EXPECT_TRUE(leaks_of(40, [](FakeRank& rank, int step, double at) {
                rank.alloc(at, place(step), kMiB);
                if (step >= kHeld) rank.free(at + 1, place(step - kHeld));
              }).empty());
}

TEST(MemoryLeakTest, NorACacheThatGrowsInFewSteps) {
  EXPECT_TRUE(leaks_of(40, [](FakeRank& rank, int step, double at) {
                if (step % 10 == 7) rank.alloc(at, place(step), kMiB);
              }).empty());
}

TEST(MemoryLeakTest, NorWhatTheFirstStepsMake) {
  EXPECT_TRUE(leaks_of(20, [](FakeRank& rank, int step, double at) {
                if (step < 2) rank.alloc(at, place(step), 32 * kMiB);
              }).empty());
}

TEST(MemoryLeakTest, FewStepsAreNotJudged) {
  EXPECT_TRUE(leaks_of(kFewestStepsForALeak - 2, [](FakeRank& rank, int step, double at) {
                rank.alloc(at, place(step), kMiB);
              }).empty());
}

}  // namespace
}  // namespace plumbline::checks
