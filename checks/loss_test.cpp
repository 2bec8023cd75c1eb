#include "checks/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using recorder::Dtype;
using testing::bytes_of;
using testing::CaptureJob;

constexpr std::size_t kClasses = 7;

// Two rows of six tokens in each of two micro-batches; a causal model of seven tokens, in float32.
struct ToyLoss {
  int ranks = 1;
  int shift = 1;
  std::vector<std::int64_t> unsupervised{};  // places of a row without a label
  double factor = 0.5;                       // on each micro-batch's loss, before backward
  bool token_mean = false;                   // divide by the tokens of both micro-batches rather than average
  double divisor = 0;                        // of the gradient between backward and the step; 0: none was captured
  bool weighted = false;                     // backward() was given what to multiply the loss by
  bool lone_step = false;                    // a step more, of whose loss nothing but the backward() is known
  bool one_pass = false;                     // both losses are of the same tokens
  bool evaluates = false;                    // a third batch, through which no gradient goes
  std::int64_t end = -1;                     // the last two tokens of a row, the second of them padding; -1: none

  std::vector<std::int64_t> tokens(int rank, int micro) const {
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 12; ++i) ids.push_back((i * i + 3 * i + 2 * micro + 5 * rank) % 6 + (i % 6 == 2 ? 1 : 0));
    for (int row = 0; row < 2 && end >= 0; ++row) {
      for (auto& id : std::span(ids).subspan(static_cast<std::size_t>(row) * 6, 4)) id = id == end ? end + 1 : id;
      ids[static_cast<std::size_t>(row) * 6 + 4] = ids[static_cast<std::size_t>(row) * 6 + 5] = end;
    }
    return ids;
  }

  std::vector<std::int64_t> labels(const std::vector<std::int64_t>& ids, int micro) const {
    std::vector<std::int64_t> result;
    for (std::size_t row = 0; row < 2; ++row) {
      for (std::size_t place = 0; place < 6; ++place) {
        const std::size_t from = place + static_cast<std::size_t>(shift);
        bool kept = from < 6 && (end < 0 || ids[row * 6 + from] != end);
        // Only the first micro-batch leaves places out, so that their numbers differ.
        for (const std::int64_t left_out : unsupervised)
          kept = kept && (micro == 1 || static_cast<std::int64_t>(place) != left_out);
        result.push_back(kept ? ids[row * 6 + from] : -100);
      }
    }
    return result;
  }

  void write(const std::string& directory) const {
    for (int rank = 0; rank < ranks; ++rank) {
      CaptureJob job(directory, rank);
      for (std::uint32_t micro = 0; micro < 2; ++micro) {
        const auto ids = tokens(rank, static_cast<int>(micro));
        const auto wanted = labels(ids, static_cast<int>(micro));
        std::vector<float> logits;
        for (std::size_t i = 0; i < 12 * kClasses; ++i)
          logits.push_back(static_cast<float>(std::sin(static_cast<double>(i * (micro + 2)) + rank) * 3));
        const testing::TensorPlace place{.detail = R"({"reduction":"mean","ignore_index":-100})", .occurrence = micro};
        if (!one_pass || micro == 0) job.tensor("input_ids", "model", 0, Dtype::kInt64, {2, 6}, bytes_of(ids), place);
        std::vector<std::int64_t> mask(12, 1);
        if (end >= 0) mask[5] = mask[11] = 0;
        job.tensor("attention_mask", "model", 0, Dtype::kInt64, {2, 6}, bytes_of(mask), place);
        job.tensor("logits", "cross_entropy", 0, Dtype::kFloat32, {12, kClasses}, bytes_of(logits), place);
        job.tensor("labels", "cross_entropy", 0, Dtype::kInt64, {12}, bytes_of(wanted), place);
        const auto [sum, count] = cross_entropy(logits, wanted);
        const auto mean = static_cast<float>(sum / count);
        job.tensor("loss", "cross_entropy", 0, Dtype::kFloat32, {}, bytes_of(std::vector<float>{mean}), place);
        const double of_all = supervised(rank);
        const auto used = static_cast<float>(token_mean ? sum / of_all : sum / count * factor);
        job.tensor("backward.loss", "", 0, Dtype::kFloat32, {}, bytes_of(std::vector<float>{used}),
                   {.detail = weighted ? R"({"weighted":true})" : "", .occurrence = micro});
      }
      if (evaluates) {
        const testing::TensorPlace place{.detail = R"({"reduction":"mean","ignore_index":-100,"requires_grad":false})",
                                         .occurrence = 2};
        const std::vector<float> logits(6 * kClasses, 0.5F);
        const std::vector<std::int64_t> wanted{1, 2, 3, 4, 5, 6};
        job.tensor("logits", "cross_entropy", 0, Dtype::kFloat32, {6, kClasses}, bytes_of(logits), place);
        job.tensor("labels", "cross_entropy", 0, Dtype::kInt64, {6}, bytes_of(wanted), place);
        const auto mean = static_cast<float>(cross_entropy(logits, wanted).first / 6);
        job.tensor("loss", "cross_entropy", 0, Dtype::kFloat32, {}, bytes_of(std::vector<float>{mean}), place);
      }
      if (lone_step) job.tensor("backward.loss", "", 1, Dtype::kFloat32, {}, bytes_of(std::vector<float>{3}));
      if (divisor > 0) {
        const std::vector<float> left{48, -96};
        std::vector<float> used{48, -96};
        for (float& one : used) one /= static_cast<float>(divisor);
        job.tensor("grad.backward", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
        job.step_note(0, "SGD", {R"({"settings":{"lr":0.1},"params":["w"]})"});
        job.tensor("grad", "w", 0, Dtype::kFloat32, {2}, bytes_of(used));
        job.tensor("param.before", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
        job.tensor("param.after", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
      }
      if (ranks > 1) {
        job.step_note(0, "AdamW", {}, "torch.optim.adamw", {0, 1});
        job.tensor("param.before", "w", 0, Dtype::kFloat32, {2}, bytes_of(std::vector<float>{1, 2}));
      }
      job.finish();
    }
  }

  static std::pair<double, double> cross_entropy(const std::vector<float>& logits,
                                                 const std::vector<std::int64_t>& wanted) {
    double sum = 0;
    double count = 0;
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      if (wanted[row] < 0) continue;
      double total = 0;
      for (std::size_t c = 0; c < kClasses; ++c) total += std::exp(static_cast<double>(logits[row * kClasses + c]));
      sum += std::log(total) - logits[row * kClasses + static_cast<std::size_t>(wanted[row])];
      count += 1;
    }
    return {sum, count};
  }

  double supervised(int rank) const {
    double count = 0;
    for (int micro = 0; micro < 2; ++micro) {
      for (const std::int64_t label : labels(tokens(rank, micro), micro)) count += label >= 0 ? 1 : 0;
    }
    return count;
  }
};

Verdict verdict_of(const ToyLoss& toy) {
  const TempDir directory;
  for (int rank = 0; rank < toy.ranks; ++rank) {
    testing::write_trace(directory.path(), rank, toy.ranks);
  }
  toy.write(directory.path());
  return testing::verdict_of(check_loss, directory);
}

std::string title_of(const ToyLoss& toy) {
  const Verdict verdict = verdict_of(toy);
  return verdict.findings.empty() ? verdict.reason : verdict.findings.front().title;
}

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
