#include "reader/clock_bounds.hpp"

#include <gtest/gtest.h>

#include <random>

namespace plumbline::reader {
namespace {

TEST(ClockBoundsTest, TheMiddleOfTheTightestBounds) {
  std::vector<ClockBound> bounds = {{100, -50, 400}, {200, 90, 500}, {300, 0, 110}};
  const ClockFit fit = fit_clock(bounds);
  ASSERT_EQ(fit.knots.size(), 1u);
  EXPECT_EQ(fit.knots[0].offset_ns, 100);
  EXPECT_EQ(fit.uncertainty_ns, 10u);
}

TEST(ClockBoundsTest, HugeOffsetsAreFine) {
  const std::int64_t offset = -4'000'000'000'000'000;
  std::vector<ClockBound> bounds = {{1, offset - 30, offset + 10}};
  EXPECT_EQ(fit_clock(bounds).knots[0].offset_ns, offset - 10);
}

TEST(ClockBoundsTest, DriftMakesKnots) {
  // 20 ppm over an hour: 72 ms, where each bound is 1 ms wide.
  std::mt19937_64 random(1);
  std::vector<ClockBound> bounds;
  const auto truth = [](std::uint64_t time) { return 5'000'000 + static_cast<std::int64_t>(time / 50'000); };
  for (std::uint64_t i = 0; i < 3600; ++i) {
    const std::uint64_t time = i * 1'000'000'000;
    const auto before = static_cast<std::int64_t>(random() % 500'000);
    const auto after = static_cast<std::int64_t>(random() % 500'000);
    bounds.push_back({time, truth(time) - before, truth(time) + after});
  }
  const ClockFit fit = fit_clock(bounds);
  EXPECT_GT(fit.knots.size(), 4u);
  for (std::uint64_t i = 0; i < 3600; i += 100) {
    const std::uint64_t time = i * 1'000'000'000;
    EXPECT_NEAR(static_cast<double>(offset_at(fit.knots, time)), static_cast<double>(truth(time)), 3e6) << i;
  }
}

TEST(ClockBoundsTest, AFewBoundsThatContradictEachOtherGiveTheirMiddle) {
  std::vector<ClockBound> bounds = {{100, 50, 60}, {200, 0, 10}};
  const ClockFit fit = fit_clock(bounds);
  ASSERT_EQ(fit.knots.size(), 1u);
  EXPECT_EQ(fit.knots[0].offset_ns, 30);
  EXPECT_EQ(fit.uncertainty_ns, 20u);
}

TEST(ClockBoundsTest, BetweenKnotsLinearBeyondThemConstant) {
  const std::vector<HostClock::Knot> knots = {{100, 10}, {200, 30}};
  EXPECT_EQ(offset_at(knots, 0), 10);
  EXPECT_EQ(offset_at(knots, 100), 10);
  EXPECT_EQ(offset_at(knots, 150), 20);
  EXPECT_EQ(offset_at(knots, 200), 30);
  EXPECT_EQ(offset_at(knots, 900), 30);
  EXPECT_EQ(offset_at({}, 5), 0);
}

}  // namespace
}  // namespace plumbline::reader
