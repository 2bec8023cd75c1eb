#include "checks/fused_head.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/loss.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using recorder::Dtype;
using testing::bytes_of;
using testing::CaptureJob;

constexpr std::size_t kClasses = 5;
constexpr std::size_t kWidth = 3;
using Labels = std::vector<std::int64_t>;

// One forward pass of a model with a fused head: six tokens of which the head is given what `given` says.
struct ToyHead {
  Labels labels = {1, 4, -100, 0, 2, 3};
  Labels model{};               // labels that the model was given, in one row; empty: none were captured
  std::string result = "loss";  // or token_loss, token_logprob
  double factor = 1;            // on what the head gives
  double used = 1;              // times the token mean: what backward() is called on
  std::size_t lost = 0;         // elements of the weight that were not captured
  std::string arguments = "{}";
  std::string more = "[]";
  bool bias = true;
  std::size_t counted = 5;  // labels that count, in the token mean

  static double hidden(std::size_t row, std::size_t i) { return std::sin(static_cast<double>(3 * row + i)) * 2; }
  static double weight(std::size_t c, std::size_t i) { return std::cos(static_cast<double>(2 * c + 5 * i)); }

  double loss_of(std::size_t row, std::int64_t label) const {
    double sum = 0;
    double right = 0;
    for (std::size_t c = 0; c < kClasses; ++c) {
      double logit = bias ? 0.25 * static_cast<double>(c) : 0;
      for (std::size_t i = 0; i < kWidth; ++i)
        logit += static_cast<double>(static_cast<float>(hidden(row, i))) * static_cast<float>(weight(c, i));
      sum += std::exp(logit);
      if (static_cast<std::int64_t>(c) == label) right = logit;
    }
    return std::log(sum) - right;
  }

  void write(const std::string& directory) const {
    CaptureJob job(directory, 0);
    const testing::TensorPlace place{.detail = R"({"weight":0,"requires_grad":true,"arguments":)" + arguments +
                                               ",\"more\":" + more + "}"};
    std::vector<float> states;
    std::vector<float> weights;
    for (std::size_t n = 0; n < labels.size() * kWidth; ++n)
      states.push_back(static_cast<float>(hidden(n / kWidth, n % kWidth)));
    for (std::size_t n = 0; n < kClasses * kWidth; ++n)
      weights.push_back(static_cast<float>(weight(n / kWidth, n % kWidth)));
    job.tensor("head.hidden", "f", 0, Dtype::kFloat32, {labels.size(), kWidth}, bytes_of(states), place);
    if (lost > 0) {
      testing::TensorPlace sample = place;
      for (std::uint64_t i = 0; i + lost < weights.size(); ++i) sample.indices.push_back(i);
      weights.resize(weights.size() - lost);
      job.tensor("head.weight", "f", 0, Dtype::kFloat32, {kClasses, kWidth}, bytes_of(weights), sample);
    } else {
      job.tensor("head.weight", "f", 0, Dtype::kFloat32, {kClasses, kWidth}, bytes_of(weights), place);
    }
    const std::vector<float> biases{0, 0.25, 0.5, 0.75, 1};
    if (bias) job.tensor("head.bias", "f", 0, Dtype::kFloat32, {kClasses}, bytes_of(biases), place);
    job.tensor("head.labels", "f", 0, Dtype::kInt64, {labels.size()}, bytes_of(labels), place);
    std::vector<float> results;
    double sum = 0;
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const double one = labels[row] < 0 ? 0 : loss_of(row, labels[row]);
      results.push_back(static_cast<float>((result == "token_logprob" ? -one : one) * factor));
      const bool counts = labels[row] >= 0 && (model.empty() || model[row + 1] >= 0);
      sum += counts ? one : 0;
    }
    const double mean = sum / static_cast<double>(counted);
    if (result == "loss") results = {static_cast<float>(mean * factor)};
    const std::vector<std::uint64_t> shape =
        result == "loss" ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{labels.size()};
    job.tensor(result, "f", 0, Dtype::kFloat32, shape, bytes_of(results), place);
    if (!model.empty()) job.tensor("labels", "Model", 0, Dtype::kInt64, {1, model.size()}, bytes_of(model));
    job.tensor("backward.loss", "", 0, Dtype::kFloat32, {},
               bytes_of(std::vector<float>{static_cast<float>(mean * used)}));
    job.finish();
  }
};

Verdict verdict_of(const ToyHead& toy) {
  const TempDir directory;
  testing::write_trace(directory.path());
  toy.write(directory.path());
  return testing::verdict_of(check_loss, directory);
}

std::string said_of(const ToyHead& toy) {
  const Verdict verdict = verdict_of(toy);
  return verdict.findings.empty() ? verdict.reason : verdict.findings.front().title;
}

TEST(FusedHeadTest, TheMeanOfTheSupervisedTokensPasses) {
  for (const char* result : {"loss", "token_loss", "token_logprob"}) {
    EXPECT_EQ(verdict_of({.result = result}).status, Status::kPass) << result << said_of({.result = result});
    const ToyHead plain{.result = result, .bias = false};
    EXPECT_EQ(verdict_of(plain).status, Status::kPass) << result << said_of(plain);
  }
}

TEST(FusedHeadTest, AHeadThatDividesByAllTokens) {
  EXPECT_EQ(said_of({.factor = 5.0 / 6}), "step 0, rank 0: f divides by all 6 tokens, though only 5 are supervised");
}

TEST(FusedHeadTest, AHeadThatComputesSomethingElse) {
  EXPECT_EQ(verdict_of({.factor = 1.001}).status, Status::kFail);
  EXPECT_NE(said_of({.factor = 1.001}).find("step 0, rank 0: f gives "), std::string::npos);
  const ToyHead each{.result = "token_logprob", .factor = 1.001};
  EXPECT_NE(said_of(each).find("for a token's cross-entropy of"), std::string::npos) << said_of(each);
}

TEST(FusedHeadTest, ADenominatorOfWhatComesOfIt) {
  EXPECT_EQ(said_of({.result = "token_logprob", .used = 5.0 / 6}),
            "step 0, rank 0: the loss that backward() was called on is divided by all 6 tokens rather than the 5 "
            "supervised ones");
}

TEST(FusedHeadTest, AnotherObjectiveOfTheLogProbabilitiesIsNotEvaluated) {
  const Verdict verdict = verdict_of({.result = "token_logprob", .used = 0.37});
  EXPECT_EQ(verdict.status, Status::kNotEvaluated);
  EXPECT_TRUE(verdict.findings.empty());
  // Of a loss it may hold more than the cross-entropy.
  EXPECT_EQ(verdict_of({.used = 0.37}).status, Status::kInconclusive);
}

TEST(FusedHeadTest, WhatTheModelWasGivenTellsWhichLabelsCount) {
  // Every place has a label for the head; of the model's, shifted by one, two do not count.
  const ToyHead masked{
      .labels = {1, 4, 0, 0, 2, 3}, .model = {0, 1, 4, -100, -100, 2, 3}, .result = "token_logprob", .counted = 4};
  EXPECT_EQ(verdict_of(masked).status, Status::kPass) << said_of(masked);
  ToyHead padded = masked;
  padded.used = 4.0 / 6;
  EXPECT_EQ(said_of(padded),
            "step 0, rank 0: the loss that backward() was called on is divided by all 6 tokens rather than the 4 "
            "supervised ones");
}

TEST(FusedHeadTest, SettingsOfTheHead) {
  EXPECT_EQ(verdict_of({.arguments = R"({"ignore_index":-100,"temperature":1.0,"chunk_size":2})"}).status,
            Status::kPass);
  EXPECT_EQ(verdict_of({.arguments = R"({"temperature":0.5})"}).status, Status::kFail);
  EXPECT_EQ(said_of({.arguments = R"({"lse_square_scale":0.1})", .more = R"(["class_weight"])"}),
            "no captured loss could be recomputed: a fused head is given what a plain cross-entropy is not: "
            "lse_square_scale, class_weight");
}

TEST(FusedHeadTest, WhatWasNotCapturedWholeIsNotEvaluated) {
  EXPECT_EQ(verdict_of({.lost = 1}).status, Status::kNotEvaluated);
  EXPECT_EQ(said_of({.lost = 1}),
            "no captured loss could be recomputed: of a fused head hidden states, weight, labels or result were not "
            "captured whole");
}

TEST(FusedHeadTest, ALabelOutsideOfTheClasses) {
  EXPECT_EQ(said_of({.labels = {1, 7, 2, 2, 2, 2}}),
            "no captured loss could be recomputed: a label is outside of the classes");
}

}  // namespace
}  // namespace plumbline::checks
