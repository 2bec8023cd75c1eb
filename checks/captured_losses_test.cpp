#include "checks/captured_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>

#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;
using Labels = std::vector<std::int64_t>;
using Reasons = std::map<std::string, std::size_t>;

constexpr std::uint64_t kClasses = 2;
const double kLoss = std::log(2);  // of a token whose classes have the same logits

struct Found {
  std::vector<LossCall> calls;
  Reasons why_not;
};

// "name probe step/rank/occurrence" of each.
std::vector<std::string> words(const Found& found) {
  std::vector<std::string> all;
  for (const LossCall& call : found.calls) {
    all.push_back(call.name + " " + call.loss->probe + " " + std::to_string(call.step) + "/" +
                  std::to_string(call.rank) + "/" + std::to_string(call.occurrence));
  }
  return all;
}

// The losses of some ranks, captured as each test says.
class CapturedLossesTest : public ::testing::Test {
 protected:
  explicit CapturedLossesTest(int ranks = 2) {
    for (int rank = 0; rank < ranks; ++rank) {
      write_trace(directory_.path(), rank, ranks);
      jobs_.push_back(std::make_unique<CaptureJob>(directory_.path(), rank));
    }
  }

  void loss(const std::string& name, std::int64_t step, std::uint32_t occurrence = 0, int rank = 0,
            const Labels& labels = {0, 1, -100}) {
    inputs(name, step, {.detail = R"({"reduction":"mean"})", .occurrence = occurrence}, rank, labels);
    result("loss", name, step, occurrence, rank);
  }
  void token_loss(const std::string& name, std::int64_t step, std::uint32_t occurrence = 0) {
    const Labels labels{0, 1, -100};
    inputs(name, step, {.detail = R"({"reduction":"none"})", .occurrence = occurrence}, 0, labels);
    result("token_loss", name, step, occurrence, 0);
  }
  // A fused head of three tokens and a weight of two classes, all zeros.
  void head(const std::string& name, std::int64_t step, std::uint32_t occurrence = 0,
            const Labels& labels = {0, 1, -100}) {
    const TensorPlace place{.detail = R"({"weight":)" + std::to_string(occurrence) + "}", .occurrence = occurrence};
    const std::vector<float> zeros(6, 0);
    jobs_[0]->tensor("head.hidden", name, step, Dtype::kFloat32, {3, 2}, bytes_of(zeros), place);
    jobs_[0]->tensor("head.weight", name, step, Dtype::kFloat32, {kClasses, 2}, bytes_of(std::vector<float>(4, 0)),
                     place);
    jobs_[0]->tensor("head.labels", name, step, Dtype::kInt64, {3}, bytes_of(labels), place);
    result("loss", name, step, occurrence, 0);
  }
  void result(const std::string& probe, const std::string& name, std::int64_t step, std::uint32_t occurrence,
              int rank) {
    const bool each = probe == "token_loss";
    std::vector<float> values(each ? 3 : 1, static_cast<float>(kLoss));
    if (each) values.back() = 0;
    const std::vector<std::uint64_t> shape = each ? std::vector<std::uint64_t>{3} : std::vector<std::uint64_t>{};
    job(rank).tensor(
        probe, name, step, Dtype::kFloat32, shape, bytes_of(values),
        {.detail = each ? R"({"reduction":"none"})" : R"({"reduction":"mean"})", .occurrence = occurrence});
  }
  CaptureJob& job(int rank) { return *jobs_[static_cast<std::size_t>(rank)]; }

  Found found() {
    for (const auto& job : jobs_) job->finish();
    run_.emplace(directory_);
    Found found;
    found.calls = captured_losses(run_->captures(), run_->loader, found.why_not);
    return found;
  }

 private:
  void inputs(const std::string& name, std::int64_t step, const TensorPlace& place, int rank, const Labels& labels) {
    job(rank).tensor("logits", name, step, Dtype::kFloat32, {labels.size(), kClasses},
                     bytes_of(std::vector<float>(labels.size() * kClasses, 0.5F)), place);
    job(rank).tensor("labels", name, step, Dtype::kInt64, {labels.size()}, bytes_of(labels), place);
  }

  const TempDir directory_;
  std::vector<std::unique_ptr<CaptureJob>> jobs_;
  std::optional<CapturedRun> run_;
};

TEST_F(CapturedLossesTest, NothingOfARunWithoutLosses) {
  job(0).tensor("grad", "w", 0, Dtype::kFloat32, {1}, bytes_of(std::vector<float>{1}));
  const Found all = found();
  EXPECT_TRUE(all.calls.empty());
  EXPECT_TRUE(all.why_not.empty());
}

TEST_F(CapturedLossesTest, LossesAndThoseOfTokens) {
  token_loss("nll", 0);
  loss("cross_entropy", 0);
  const Found all = found();
  ASSERT_EQ(words(all), (std::vector<std::string>{"cross_entropy loss 0/0/0", "nll token_loss 0/0/0"}));
  for (const LossCall& call : all.calls) {
    EXPECT_EQ(call.supervised, 2U);
    EXPECT_NEAR(call.sum, 2 * kLoss, 1e-12);
    EXPECT_EQ(call.row_losses.size(), 3U);
    ASSERT_NE(call.logits, nullptr);
    EXPECT_EQ(call.logits->probe, "logits");
  }
  EXPECT_EQ(all.calls[0].reduction, "mean");
  EXPECT_EQ(all.calls[1].reduction, "none");
  EXPECT_TRUE(all.why_not.empty());
}

TEST_F(CapturedLossesTest, TheResultOfAFusedHeadIsTakenWithTheHead) {
  head("f", 0);
  const Found all = found();
  ASSERT_EQ(words(all), (std::vector<std::string>{"f loss 0/0/0"}));
  EXPECT_EQ(all.calls[0].supervised, 2U);
  EXPECT_NEAR(all.calls[0].mean(), kLoss, 1e-6);
  EXPECT_GE(all.calls[0].excess, 0);
  EXPECT_TRUE(all.calls[0].row_losses.empty());
  EXPECT_TRUE(all.why_not.empty());
}

TEST_F(CapturedLossesTest, OnlyThatOfTheSameCallBelongsToTheHead) {
  head("f", 0, 1);
  loss("f", 0, 0);
  loss("f", 0, 1, 1);
  loss("g", 0, 1);
  loss("f", 1, 1);
  const Found all = found();
  EXPECT_EQ(words(all),
            (std::vector<std::string>{"f loss 0/0/1", "f loss 0/0/0", "g loss 0/0/1", "f loss 0/1/1", "f loss 1/0/1"}));
  EXPECT_GE(all.calls[0].excess, 0);
  for (std::size_t i = 1; i < all.calls.size(); ++i) EXPECT_LT(all.calls[i].excess, 0) << i;
}

TEST_F(CapturedLossesTest, StepsComeInOrderAndInEachRanksAndMicroBatches) {
  for (const std::int64_t step : {4, 0, 2}) {
    for (const int rank : {1, 0}) {
      for (const std::uint32_t micro : {0U, 1U}) loss("cross_entropy", step, micro, rank);
    }
  }
  std::vector<std::string> expected;
  for (const char* step : {"0", "2", "4"}) {
    for (const char* place : {"/0/0", "/0/1", "/1/0", "/1/1"})
      expected.push_back(std::string("cross_entropy loss ") + step + place);
  }
  EXPECT_EQ(words(found()), expected);
}

TEST_F(CapturedLossesTest, WhatCannotBeComputedIsCountedByReason) {
  result("loss", "custom", 0, 0, 0);
  result("loss", "custom", 0, 1, 0);
  loss("cross_entropy", 0, 0, 0, {0, 7, 1});
  loss("cross_entropy", 0, 1);
  const Found all = found();
  EXPECT_EQ(words(all), (std::vector<std::string>{"cross_entropy loss 0/0/1"}));
  EXPECT_EQ(all.why_not,
            (Reasons{{"its logits and labels were not captured whole", 2}, {"a label is outside of the classes", 1}}));
}

TEST_F(CapturedLossesTest, AHeadThatCannotBeComputedIsCountedOnce) {
  head("f", 0, 0, {0, 9, 1});
  const std::vector<float> zeros(6, 0);
  job(0).tensor("head.hidden", "g", 0, Dtype::kFloat32, {3, 2}, bytes_of(zeros), {.detail = "{}"});
  result("loss", "g", 0, 0, 0);
  const Found all = found();
  EXPECT_TRUE(all.calls.empty());
  EXPECT_EQ(all.why_not,
            (Reasons{{"a label is outside of the classes", 1},
                     {"of a fused head hidden states, weight, labels or result were not captured whole", 1}}));
}

}  // namespace
}  // namespace plumbline::checks
