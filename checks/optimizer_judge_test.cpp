#include "checks/optimizer_judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace plumbline::checks {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// One element after the other, as the definition says it.
TensorOutcome one_by_one(std::size_t first, const std::vector<Bounded>& expected, const std::vector<double>& actual,
                         const std::vector<double>& before) {
  TensorOutcome outcome;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto [value, error] = expected[i];
    if (!std::isfinite(value) || !std::isfinite(error)) continue;
    ++outcome.judged;
    const double deviation = std::fabs(actual[i] - value);
    double ratio = deviation == 0 ? 0 : deviation / error;
    if (std::isnan(ratio)) ratio = HUGE_VAL;
    if (ratio > 1) ++outcome.beyond;
    if (ratio > outcome.largest) {
      outcome.largest = ratio;
      outcome.place = first + i;
      outcome.expected = value;
      outcome.actual = actual[i];
      outcome.bound = error;
    }
    const double move = std::fabs(value - before[i]);
    if (!(move > 0)) continue;
    ++outcome.moving;
    outcome.moving_sum += move;
    if (actual[i] != before[i]) continue;
    ++outcome.unmoved;
    outcome.unmoved_sum += move;
  }
  return outcome;
}

void expect_same(const TensorOutcome& a, const TensorOutcome& b) {
  EXPECT_EQ(a.judged, b.judged);
  EXPECT_EQ(a.beyond, b.beyond);
  EXPECT_EQ(a.moving, b.moving);
  EXPECT_EQ(a.unmoved, b.unmoved);
  EXPECT_NEAR(a.moving_sum, b.moving_sum, 1e-12 * b.moving_sum);
  EXPECT_NEAR(a.unmoved_sum, b.unmoved_sum, 1e-12 * b.unmoved_sum);
  EXPECT_EQ(a.largest, b.largest);
  EXPECT_EQ(a.place, b.place);
  EXPECT_EQ(a.expected, b.expected);
  EXPECT_TRUE(a.actual == b.actual || (std::isnan(a.actual) && std::isnan(b.actual)));
  EXPECT_EQ(a.bound, b.bound);
}

TEST(OptimizerJudge, BlocksGiveWhatSingleElementsGive) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  // Lengths about the blocks' and the vectors'.
  for (const std::size_t count : {1u, 7u, 8u, 255u, 256u, 257u, 1000u}) {
    std::vector<Bounded> expected(count);
    std::vector<double> actual(count);
    std::vector<double> before(count);
    for (std::size_t i = 0; i < count; ++i) {
      expected[i] = {number(random), std::fabs(number(random)) * 1e-3};
      before[i] = random() % 4 == 0 ? expected[i].value : number(random);
      actual[i] = random() % 3 == 0 ? before[i] : expected[i].value + number(random) * 2e-3;
    }
    TensorOutcome outcome;
    judge(outcome, 5000, expected, actual, before);
    expect_same(outcome, one_by_one(5000, expected, actual, before));
  }
}

TEST(OptimizerJudge, WhatIsNoNumber) {
  const std::vector<Bounded> expected{{1, 0.1}, {kNan, 0.1}, {1, HUGE_VAL}, {HUGE_VAL, 1}, {2, 0}, {3, 0.5}, {4, 0}};
  const std::vector<double> actual{1, 1, 1, 1, 2, kNan, 5};
  const std::vector<double> before{0, 0, 0, 0, kNan, 3, 4};
  TensorOutcome outcome;
  judge(outcome, 0, expected, actual, before);
  expect_same(outcome, one_by_one(0, expected, actual, before));
  EXPECT_EQ(outcome.judged, 4u);
  EXPECT_EQ(outcome.beyond, 2u) << "no number, and one that is off though its bound is zero";
  EXPECT_EQ(outcome.place, 5u);
}

TEST(OptimizerJudge, NothingBeforeCountsAsZeros) {
  const std::vector<Bounded> expected(300, Bounded{1, 0.1});
  const std::vector<double> actual(300, 0.0);
  TensorOutcome outcome;
  judge(outcome, 0, expected, actual, {});
  EXPECT_EQ(outcome.moving, 300u);
  EXPECT_EQ(outcome.unmoved, 300u);
}

TEST(OptimizerJudge, LeverageIsTheLargestUpdateInBounds) {
  ParameterOutcome outcome;
  std::vector<Bounded> expected(400, Bounded{1, 0.5});
  expected[300] = {3, 0.25};
  expected[10] = {9, 0};
  judge_leverage(outcome, 100, expected, std::vector<double>(400, 1.0));
  EXPECT_EQ(outcome.leverage, 8.0);
  EXPECT_EQ(outcome.leverage_place, 400u);
}

TEST(OptimizerJudge, DecayIsLostBelowHalfASpacing) {
  ParameterOutcome outcome;
  // bfloat16: half of the spacing above 1 is 2^-8, of what lies above 1.5 too.
  judge_decay(outcome, std::vector<double>{1, 1.5, 0, -1}, 0x1p-8 / 1.25, 0x1p-8);
  EXPECT_EQ(outcome.decaying, 3u);
  EXPECT_EQ(outcome.decay_lost, 2u);
}

}  // namespace
}  // namespace plumbline::checks
