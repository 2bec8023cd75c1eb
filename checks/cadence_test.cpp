#include "checks/cadence.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Step times around a middle, with a repeatable scatter of up to `spread` on both sides.
std::vector<std::int64_t> steps(std::size_t count, std::int64_t middle, std::int64_t spread) {
  std::vector<std::int64_t> durations;
  std::uint32_t value = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    value = value * 1664525 + 1013904223;
    durations.push_back(middle + static_cast<std::int64_t>(value >> 8) % (2 * spread + 1) - spread);
  }
  return durations;
}

std::vector<std::int64_t> joined(std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CadenceTest, MedianIsTheLowerOne) {
  EXPECT_EQ(median_of(std::vector<std::int64_t>{}), 0);
  EXPECT_EQ(median_of({5}), 5);
  EXPECT_EQ(median_of({9, 1}), 1);
  EXPECT_EQ(median_of({3, 9, 1}), 3);
}

TEST(CadenceTest, FindsWhereStepsBecameSlower) {
  const auto change = slowdown(joined(steps(60, 167 * kMs, 2 * kMs), steps(40, 185 * kMs, 2 * kMs)));
  ASSERT_TRUE(change.has_value());
  EXPECT_NEAR(static_cast<double>(change->at), 60, 1);
  EXPECT_NEAR(static_cast<double>(change->before), 167e6, 1e6);
  EXPECT_NEAR(static_cast<double>(change->after), 185e6, 1e6);
}

TEST(CadenceTest, ASteadyRunHasNoChange) { EXPECT_FALSE(slowdown(steps(200, 167 * kMs, 20 * kMs)).has_value()); }

TEST(CadenceTest, FasterStepsAreNoFault) {
  EXPECT_FALSE(slowdown(joined(steps(60, 185 * kMs, 2 * kMs), steps(40, 167 * kMs, 2 * kMs))).has_value());
}

TEST(CadenceTest, AChangeWithinTheScatterIsNone) {
  EXPECT_FALSE(slowdown(joined(steps(60, 100 * kMs, 40 * kMs), steps(60, 112 * kMs, 40 * kMs))).has_value());
}

TEST(CadenceTest, TooFewStepsCannotShowAChange) {
  EXPECT_FALSE(slowdown(joined(steps(9, 100 * kMs, kMs), steps(9, 200 * kMs, kMs))).has_value());
  EXPECT_FALSE(slowdown({}).has_value());
}

TEST(CadenceTest, ASingleLongStepStandsOut) {
  std::vector<std::int64_t> durations = steps(50, 100 * kMs, 5 * kMs);
  durations[30] = 900 * kMs;
  EXPECT_EQ(stalled_steps(durations), std::vector<std::size_t>{30});
  EXPECT_FALSE(slowdown(durations).has_value());
}

TEST(CadenceTest, LongStepsThatAreUsualAreNotSingle) {
  std::vector<std::int64_t> durations = steps(60, 100 * kMs, 5 * kMs);
  for (std::size_t i = 0; i < durations.size(); i += 5) durations[i] = 900 * kMs;
  EXPECT_TRUE(stalled_steps(durations).empty());
  EXPECT_TRUE(stalled_steps({}).empty());
}

TEST(CadenceTest, WarmUpIsAtLeastThreeSteps) {
  EXPECT_EQ(warm_up_steps(steps(50, 100 * kMs, 5 * kMs)), 3U);
  EXPECT_EQ(warm_up_steps(steps(2, 100 * kMs, 5 * kMs)), 2U);
}

TEST(CadenceTest, WarmUpGoesOnWhileStepsAreSlowButNotForever) {
  EXPECT_EQ(warm_up_steps(joined(steps(6, 900 * kMs, kMs), steps(50, 100 * kMs, kMs))), 6U);
  EXPECT_EQ(warm_up_steps(joined(steps(30, 900 * kMs, kMs), steps(70, 100 * kMs, kMs))), 20U);
}

TEST(CadenceTest, TheFirstSlowStepIsFoundThoughMostStepsAreSlow) {
  std::vector<std::int64_t> durations;
  for (std::int64_t step = 0; step < 86; ++step)
    durations.push_back((step < 26 ? 7'000'000 : 110'000'000) + (step * 37 % 11) * 100'000);
  const auto change = slowdown(durations);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->at, 26U);
}

}  // namespace
}  // namespace plumbline::checks
