#include "checks/loss_scale.hpp"

#include <gtest/gtest.h>

#include "checks/testing/toy_loss.hpp"

namespace plumbline::checks {
namespace {

using testing::ToyLoss;
using Weights = std::vector<std::vector<float>>;

const Weights kRight{{0.5F}, {0.5F}};  // of two micro-batches with as many tokens
const Weights kTwice{{1}, {1}};

std::string details_of(const ToyLoss& toy) {
  std::string all;
  for (const Finding& finding : toy.judged().findings) {
    for (const std::string& detail : finding.details) all += detail + "\n";
  }
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A hook, a gradient that backward() is given, or other terms of the sum: it counts what the cross-entropy gets.
TEST(LossScaleTest, TheWeightInTheGradientsDecides) {
  for (const bool weighted : {false, true}) {
    for (const bool hooked : {false, true}) {
      const ToyLoss right{.ranks = 2, .factor = 12, .weighted = weighted, .weights = kRight, .hooked = hooked};
      EXPECT_EQ(right.judged().status, Status::kPass) << right.title();
      EXPECT_TRUE(right.judged().unknown.empty());
    }
  }
  const ToyLoss twice{.factor = 12, .weights = kTwice};
  EXPECT_EQ(twice.title(), ToyLoss{.factor = 1}.title());
  EXPECT_EQ(twice.judged().status, Status::kInconclusive) << "the loss has more than that";
}

TEST(LossScaleTest, ARightLossWhoseGradientIsScaledOnItsWay) {
  for (const bool hooked : {false, true}) {
    const ToyLoss scaled{.weights = kTwice, .hooked = hooked};
    EXPECT_EQ(scaled.judged().status, Status::kInconclusive);
    EXPECT_EQ(scaled.title(),
              "step 0, rank 0: the loss that backward() was called on is the mean over the supervised tokens, but the "
              "gradient that its cross-entropy is given is 2 x as large");
  }
}

TEST(LossScaleTest, AHookOfWhichNoMoreIsKnownMayDoAnything) {
  const ToyLoss hooked{.factor = 12, .hooked = true};
  EXPECT_TRUE(hooked.judged().findings.empty());
  ASSERT_EQ(hooked.judged().unknown.size(), 1u);
  EXPECT_TRUE(has(hooked.judged().unknown[0], "whether backward() was called on the mean"));
}

TEST(LossScaleTest, AFactorSaysHowElseItMayBeRead) {
  const ToyLoss divided{.ranks = 2, .factor = 0.25, .weights = {{0.25F}, {0.25F}}};
  EXPECT_EQ(divided.judged().status, Status::kFail) << divided.title();
  EXPECT_TRUE(has(divided.title(), "divided by the number of micro-batches")) << divided.title();
  EXPECT_TRUE(has(details_of(divided),
                  "x 0.5 is either that, on top of the mean that is taken already, or a factor "
                  "that is meant: the numbers are the same\n"));
  // Of a sum with other terms.
  const ToyLoss part{.ranks = 2, .factor = 0.75, .weights = {{0.25F}, {0.25F}}};
  EXPECT_EQ(part.judged().status, Status::kInconclusive) << part.title();
  EXPECT_TRUE(has(details_of(part), "the numbers are the same; the loss has other terms besides"));
}

TEST(LossScaleTest, AFactorThatNothingExplains) {
  const ToyLoss five{.factor = 2.5};
  EXPECT_EQ(five.judged().status, Status::kInconclusive) << five.title();
  EXPECT_TRUE(has(five.title(), "is 5 x the mean over the supervised tokens"));
  const ToyLoss weight{.factor = 0.9, .weights = {{0.35F}, {0.35F}}};
  EXPECT_EQ(weight.judged().status, Status::kInconclusive);
  EXPECT_TRUE(has(weight.title(), "is 0.7 x the mean over the supervised tokens")) << weight.title();
}

TEST(LossScaleTest, LossesOfTokensAreJudgedByTheirWeights) {
  const std::vector<float> mean(12, 0.05F);
  const ToyLoss right{.weights = {mean, mean}, .tokens_apart = true};
  EXPECT_EQ(right.judged().status, Status::kPass) << right.title();
  const std::vector<float> tenth(12, 0.1F);
  const ToyLoss twice{.factor = 1, .weights = {tenth, tenth}, .tokens_apart = true};
  EXPECT_EQ(twice.title(), ToyLoss{.factor = 1}.title());
  // Not where nothing is known of them.
  const ToyLoss unknown{.tokens_apart = true};
  EXPECT_EQ(unknown.judged().status, Status::kNotEvaluated) << unknown.title();
}

TEST(LossScaleTest, ATokenThatCountsForNothingHasNoLabel) {
  // Two of ten in the first micro-batch.
  std::vector<float> masked(12, 1 / 18.0F);
  masked[1] = masked[7] = 0;
  const ToyLoss right{.weights = {masked, std::vector<float>(12, 1 / 18.0F)}, .tokens_apart = true};
  EXPECT_EQ(right.judged().status, Status::kPass) << right.title();
}

// Five tokens have a label in the first row, of which two count in the second.
TEST(LossScaleTest, AMeanOfTheRowsMeansMayBeMeant) {
  std::vector<float> rows(12, 0.05F);
  for (std::size_t i = 6; i < 12; ++i) rows[i] = i < 8 ? 0.125F : 0;
  const ToyLoss uneven{.weights = {rows, std::vector<float>(12, 0.05F)}, .tokens_apart = true};
  EXPECT_EQ(uneven.judged().status, Status::kInconclusive);
  EXPECT_TRUE(has(uneven.title(), "is a mean of the means of rows or documents")) << uneven.title();
  EXPECT_TRUE(has(details_of(uneven), "2 means; a token's weight goes from 0.85 to 2.125 times")) << details_of(uneven);
}

TEST(LossScaleTest, WeightsTokenByTokenAreTheJobsOwn) {
  std::vector<float> weights;
  for (int i = 0; i < 12; ++i) weights.push_back(0.05F + 0.001F * static_cast<float>(i * i));
  const ToyLoss own{.weights = {weights, weights}, .tokens_apart = true};
  EXPECT_EQ(own.judged().status, Status::kNotEvaluated) << own.title();
  EXPECT_TRUE(has(own.title(), "how they are put together is the job's own weighting"));
  EXPECT_TRUE(has(own.judged().unknown.at(0), "of 1 steps is right: each token has a weight of its own"));
}

TEST(LossScaleTest, ALossThatNoGradientWentThroughIsAnEvaluation) {
  const ToyLoss evaluated{.weights = {{1}, {}}};
  EXPECT_EQ(evaluated.judged().status, Status::kPass) << evaluated.title();
  EXPECT_EQ(ToyLoss({.weights = {{1}, {0}}}).judged().status, Status::kPass);
}

TEST(LossScaleTest, OfSeveralHeadsOneIsTheTokenMean) {
  const ToyLoss heads{.factor = 1, .one_pass = true, .weights = {{1}, {0.25F}}};
  EXPECT_EQ(heads.judged().status, Status::kPass) << heads.title();
  const ToyLoss neither{.factor = 1, .one_pass = true, .weights = {{0.75F}, {0.25F}}};
  EXPECT_EQ(neither.judged().status, Status::kInconclusive) << neither.title();
}

TEST(LossScaleTest, HeadsOfRowsThatNoTokenIdsTellOf) {
  const auto with = [](const Weights& weights) {
    return ToyLoss{.weights = weights, .no_ids = true, .one_backward = true};
  };
  const std::string no_findings = "2 losses are the mean cross-entropy";
  EXPECT_TRUE(has(with({{1}, {0.25F}}).title(), no_findings)) << "a second head";
  EXPECT_TRUE(has(with({{0.75F}, {0.25F}}).title(), no_findings)) << "mixed labels";
  EXPECT_EQ(with({{0.75F}, {0.5F}}).judged().status, Status::kInconclusive);
  EXPECT_EQ(with({{1}, {1}}).judged().status, Status::kInconclusive) << "chunks, or heads that are alike";
}

TEST(LossScaleTest, AnAccumulationThatTheDataEndsIn) {
  const ToyLoss toy{.weights = kRight, .short_last = true};
  EXPECT_EQ(toy.judged().status, Status::kInconclusive);
  EXPECT_EQ(toy.title(),
            "step 2, rank 0: the loss that backward() was called on is divided by 2 micro-batches as in most steps, "
            "though this one has 1: its tokens count for less");
}

}  // namespace
}  // namespace plumbline::checks
