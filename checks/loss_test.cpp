#include "checks/loss.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_loss.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::ToyLoss;

Verdict verdict_of(const ToyLoss& toy) { return toy.judged(); }
std::string title_of(const ToyLoss& toy) { return toy.title(); }

TEST(LossTest, TheTokenMeanPasses) {
  EXPECT_EQ(verdict_of({}).status, Status::kPass) << title_of({});
  EXPECT_EQ(verdict_of({.ranks = 2}).status, Status::kPass) << title_of({.ranks = 2});
  const ToyLoss uneven{.unsupervised = {0, 1}, .token_mean = true};
  EXPECT_EQ(verdict_of(uneven).status, Status::kPass) << title_of(uneven);
}

TEST(LossTest, AccumulationThatNobodyDivides) {
  EXPECT_EQ(
      title_of({.factor = 1}),
      "step 0, rank 0: the loss that backward() was called on is the mean over the supervised tokens multiplied by "
      "the number of micro-batches");
}

TEST(LossTest, AFactorOfRanksOnTop) {
  EXPECT_EQ(
      title_of({.ranks = 2, .factor = 2}),
      "step 0, ranks 0,1: the loss that backward() was called on is the mean over the supervised tokens multiplied "
      "by the number of micro-batches and the number of ranks");
  EXPECT_EQ(title_of({.factor = 2.5}),
            "step 0, rank 0: the loss that backward() was called on is 5 x the mean over the supervised tokens");
}

TEST(LossTest, AMeanOfMeans) {
  EXPECT_EQ(title_of({.unsupervised = {0, 1}}),
            "step 0, rank 0: the loss that backward() was called on is a mean of the micro-batches' means, which have "
            "different numbers of tokens");
}

TEST(LossTest, AScaleThatTheGradientsAreDividedByAgain) {
  const ToyLoss scaled{.factor = 0.5 * 65536, .divisor = 65536};
  EXPECT_EQ(verdict_of(scaled).status, Status::kPass) << title_of(scaled);
  // What is wrong besides is told as without a scale.
  EXPECT_EQ(title_of({.factor = 65536, .divisor = 65536}), title_of({.factor = 1}));
  // A gradient that is not divided again, or of which it is not known.
  for (const double divisor : {0.0, 1.0}) {
    const ToyLoss open{.factor = 0.5 * 1024, .divisor = divisor};
    EXPECT_EQ(verdict_of(open).status, Status::kInconclusive);
    EXPECT_NE(title_of(open).find("is 1024 x the mean over the supervised tokens, as where a loss is scaled"),
              std::string::npos)
        << title_of(open);
  }
  // A gradient that is wrongly divided makes no right loss wrong.
  EXPECT_EQ(verdict_of({.divisor = 2}).status, Status::kPass) << title_of({.divisor = 2});
}

TEST(LossTest, WhatTheGradientsAreDividedByWithoutAScaler) {
  // As a loss that is summed first, and gradients that are divided by the number of tokens or micro-batches then.
  for (const double divisor : {3.0, 51.0, 1000.0, 0.5}) {
    const ToyLoss divided{.ranks = 2, .factor = 0.5 * divisor, .divisor = divisor};
    EXPECT_EQ(verdict_of(divided).status, Status::kPass) << title_of(divided);
    const ToyLoss uneven{.ranks = 2, .unsupervised = {0, 1}, .factor = 0.5 * divisor, .divisor = divisor};
    EXPECT_EQ(title_of(uneven), title_of({.ranks = 2, .unsupervised = {0, 1}}));
  }
  // Not by what the loss is too large by, as by one's own clipping.
  EXPECT_EQ(title_of({.factor = 1, .divisor = 37.3}), title_of({.factor = 1}));
}

TEST(LossTest, AGradientThatBackwardIsGivenMayHoldTheDenominator) {
  const Verdict verdict = verdict_of({.factor = 12, .weighted = true});
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_EQ(verdict.unknown.size(), 1U);
  EXPECT_EQ(verdict.unknown[0],
            "whether backward() was called on the mean: it was not captured, or with a factor of its own");
}

TEST(LossTest, StepsThatAreNotJudgedAreCounted) {
  ToyLoss toy;
  toy.lone_step = true;
  const Verdict verdict = verdict_of(toy);
  EXPECT_EQ(verdict.status, Status::kPass);
  ASSERT_EQ(verdict.unknown.size(), 1U);
  EXPECT_NE(verdict.unknown[0].find("called on the mean in 1 more steps"), std::string::npos) << verdict.unknown[0];
}

TEST(LossTest, TwoLossesOfTheSameTokensAreLeftOpen) {
  const ToyLoss heads{.factor = 1, .one_pass = true};
  EXPECT_EQ(verdict_of(heads).status, Status::kInconclusive) << title_of(heads);
  EXPECT_EQ(verdict_of({.factor = 1}).status, Status::kFail);
}

TEST(LossTest, AnEvaluationBetweenTheStepsIsNoMicroBatch) {
  EXPECT_EQ(verdict_of({.evaluates = true}).status, Status::kPass) << title_of({.evaluates = true});
  EXPECT_EQ(title_of({.factor = 1, .evaluates = true}), title_of({.factor = 1}));
}

TEST(LossTest, LabelsThatAreNotShiftedOrTwice) {
  EXPECT_EQ(title_of({.shift = 0}),
            "step 0, rank 0: labels are the tokens themselves: the shift by one is missing, each "
            "place predicts what it reads");
  EXPECT_EQ(title_of({.shift = 2}), "step 0, rank 0: labels are 2 places ahead of the tokens: they were shifted twice");
}

TEST(LossTest, LabelsThatADecoderReadsBesidesAnEncoder) {
  EXPECT_EQ(verdict_of({.shift = 0}).status, Status::kFail);
  EXPECT_EQ(verdict_of({.shift = 0, .decoder = true}).status, Status::kPass);
}

TEST(LossTest, AnEndOfSequenceThatIsMaskedAsPadding) {
  EXPECT_EQ(title_of({.end = 2}),
            "step 0, rank 0: labels never hold token 2, which pads and also ends a row: its end is "
            "not learned");
}

TEST(LossTest, LossesOfNoTokenSayNothing) {
  const ToyLoss nothing{.shift = 6};
  EXPECT_EQ(verdict_of(nothing).status, Status::kInconclusive);
  EXPECT_NE(title_of(nothing).find("no captured loss has a supervised token"), std::string::npos) << title_of(nothing);
}

TEST(LossTest, NothingCapturedIsNotEvaluated) {
  const TempDir directory;
  testing::write_trace(directory.path());
  EXPECT_EQ(testing::verdict_of(check_loss, directory).status, Status::kNotEvaluated);
}

}  // namespace
}  // namespace plumbline::checks
