#include "recorder/capture_plan.hpp"

#include <gtest/gtest.h>

namespace plumbline::recorder {
namespace {

std::vector<int> chosen(const CapturePlan& plan, int steps) {
  std::vector<int> found;
  for (int step = 0; step < steps; ++step) {
    if (plan.step(step)) found.push_back(step);
  }
  return found;
}

TEST(CapturePlanTest, WatchLooksAtTheFirstStepsAndThenRarely) {
  const CapturePlan plan(Level::kWatch, "", "");
  EXPECT_EQ(chosen(plan, 401), (std::vector<int>{0, 1, 2, 200, 400}));
  EXPECT_EQ(plan.wish("grad").samples, 16u);
  EXPECT_EQ(plan.wish("grad").full_bytes, 0u);
  EXPECT_TRUE(plan.wish("param.after").hash);
  EXPECT_FALSE(plan.wish("state.exp_avg.before").hash);
}

TEST(CapturePlanTest, DiagnoseKeepsSmallTensorsWholeAtEveryStep) {
  const CapturePlan plan(Level::kDiagnose, "", "");
  EXPECT_EQ(chosen(plan, 4), (std::vector<int>{0, 1, 2, 3}));
  const CaptureWish wish = plan.wish("logits");
  EXPECT_GT(wish.full_bytes, 1u << 20);
  EXPECT_GT(wish.samples, 16u);
  EXPECT_TRUE(wish.hash);
  // The same gradients pass through collectives and the optimizer: once whole is enough.
  EXPECT_EQ(plan.wish("collective.out").full_bytes, 0u);
  EXPECT_EQ(plan.wish("collective.out").samples, 1024u);
  // Gradients on their way are captured at each backward(): a sample tells by which factor they change.
  EXPECT_EQ(plan.wish("grad.backward").samples, 64u);
  EXPECT_EQ(plan.wish("grad.backward").full_bytes, 0u);
}

TEST(CapturePlanTest, NothingIsCapturedWhereNothingIsRecorded) {
  const CapturePlan plan(Level::kOff, "", "grad=full");
  EXPECT_FALSE(plan.step(0));
  EXPECT_EQ(plan.wish("grad").full_bytes, 0u);
}

TEST(CapturePlanTest, StepsOfTheUser) {
  EXPECT_EQ(chosen(CapturePlan(Level::kWatch, "1,3-4,%5", ""), 11), (std::vector<int>{0, 1, 3, 4, 5, 10}));
  EXPECT_EQ(chosen(CapturePlan(Level::kDiagnose, "none", ""), 3), std::vector<int>{});
  EXPECT_EQ(chosen(CapturePlan(Level::kWatch, "all", ""), 3), (std::vector<int>{0, 1, 2}));
}

TEST(CapturePlanTest, TheLongestNameWins) {
  const CapturePlan plan(Level::kWatch, "", "*=hash,state=sample:4,state.step=none,grad=full,grad=stats+hash");
  EXPECT_EQ(plan.wish("state.exp_avg.after").samples, 4u);
  EXPECT_EQ(plan.wish("state.step.after").samples, 0u);
  EXPECT_EQ(plan.wish("stateful").samples, 0u);
  EXPECT_TRUE(plan.wish("stateful").hash);
  EXPECT_TRUE(plan.wish("grad.before_clip").statistics);  // the last word on a name counts
  EXPECT_EQ(plan.wish("grad").full_bytes, 0u);
  EXPECT_EQ(plan.wish("param.before").samples, 16u);  // the level's own word on it is longer than *
}

TEST(CapturePlanTest, AskedForWholeIsWholeAtAnySize) {
  EXPECT_EQ(CapturePlan(Level::kDiagnose, "", "param=full").wish("param.before").full_bytes, ~std::uint64_t{0});
}

TEST(CapturePlanTest, WhatIsNotUnderstood) {
  for (const char* text : {"", "a", "-1", "3-1", "1,", ",1", "%0", "%", "1-", "-", "1-2-3", "99999999999999999999"}) {
    EXPECT_FALSE(CapturePlan::understands_steps(text)) << text;
  }
  for (const char* text : {"grad", "grad=", "=full", "grad=much", "grad=sample", "grad=sample:0", "grad=full+", ",",
                           "grad=full,", "grad=none+hash", "grad=sample:-1"}) {
    EXPECT_FALSE(CapturePlan::understands_amounts(text)) << text;
  }
  EXPECT_TRUE(CapturePlan::understands_amounts(""));
  EXPECT_TRUE(CapturePlan::understands_steps("0-2,%200,none"));
}

}  // namespace
}  // namespace plumbline::recorder
