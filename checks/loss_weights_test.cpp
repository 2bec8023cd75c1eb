#include "checks/loss_weights.hpp"

#include <gtest/gtest.h>

#include "checks/captured_losses.hpp"
#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// Logits that give each of two classes the same: every token has a cross-entropy of log(2).
constexpr double kLoss = 0.6931471805599453;

struct Toy {
  std::vector<std::int64_t> labels = std::vector<std::int64_t>(6, 1);
  std::string detail = R"("reduction":"none")";
  std::vector<std::vector<float>> gradients{};  // that backward() gave it, one after the other
  std::vector<std::uint64_t> shape{6, 2};       // of the logits
};

std::vector<LossCall> calls_of(const std::vector<Toy>& toys) {
  const TempDir directory;
  write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  std::uint32_t number = 0;
  for (const Toy& toy : toys) {
    const TensorPlace place{.detail = "{" + toy.detail + "}", .occurrence = number++};
    const std::uint64_t rows = toy.labels.size();
    job.tensor("logits", "cross_entropy", 0, Dtype::kFloat32, toy.shape, bytes_of(std::vector<float>(2 * rows, 0.5F)),
               place);
    job.tensor("labels", "cross_entropy", 0, Dtype::kInt64, {rows}, bytes_of(toy.labels), place);
    const bool each = toy.detail.find("none") != std::string::npos;
    const std::vector<float> loss(each ? rows : 1, static_cast<float>(kLoss));
    if (each) {
      job.tensor("token_loss", "cross_entropy", 0, Dtype::kFloat32, {rows}, bytes_of(loss), place);
    } else {
      job.tensor("loss", "cross_entropy", 0, Dtype::kFloat32, {}, bytes_of(loss), place);
    }
    for (const std::vector<float>& gradient : toy.gradients)
      job.tensor("loss.grad", "cross_entropy", 0, Dtype::kFloat32, {gradient.size()}, bytes_of(gradient), place);
  }
  job.finish();
  CapturedRun all(directory);
  std::map<std::string, std::size_t> why_not;
  std::vector<LossCall> calls = captured_losses(all.captures(), all.loader, why_not);
  weigh_losses(all.loader, all.captures(), calls);
  return calls;
}

LossCall call_of(const Toy& toy) { return calls_of({toy}).at(0); }

std::vector<std::uint32_t> training(const std::vector<Toy>& toys) {
  const std::vector<LossCall> calls = calls_of(toys);
  std::vector<std::uint32_t> numbers;
  for (const LossCall* call : training_losses(calls)) numbers.push_back(call->occurrence);
  return numbers;
}

TEST(LossWeightsTest, OfAMeanAndASum) {
  const Toy mean{.labels = {1, 1, -100, 1, 1, -100}, .detail = R"("reduction":"mean")", .gradients = {{0.5F}}};
  const LossCall of_mean = call_of(mean);
  ASSERT_TRUE(of_mean.weight);
  EXPECT_EQ(of_mean.weight->kind, LossWeight::Kind::kAlike);
  EXPECT_DOUBLE_EQ(of_mean.weight->most, 0.125);
  EXPECT_NEAR(of_mean.weight->sum, 0.5 * kLoss, 1e-12);
  EXPECT_NEAR(call_of({.detail = R"("reduction":"sum")", .gradients = {{0.25F}}}).weight->sum, 1.5 * kLoss, 1e-12);
  EXPECT_FALSE(call_of({}).weight);
}

TEST(LossWeightsTest, OfAGraphThatBackwardGoesThroughTwice) {
  const Toy twice{.detail = R"("reduction":"mean")", .gradients = {{0.5F}, {0.25F}}};
  EXPECT_NEAR(call_of(twice).weight->sum, 0.75 * kLoss, 1e-12);
}

// The captured weight is that of the part without smoothing.
TEST(LossWeightsTest, OfASmoothedLoss) {
  const Toy smooth{.detail = R"("reduction":"mean","label_smoothing":0.5)", .gradients = {{0.5F}}};
  EXPECT_NEAR(call_of(smooth).weight->sum, kLoss, 1e-12);
  EXPECT_FALSE(call_of({.detail = R"("reduction":"mean","label_smoothing":1)", .gradients = {{0}}}).weight);
}

TEST(LossWeightsTest, TokensOfWeightZeroAreNotSupervised) {
  const LossCall call = call_of({.labels = {1, 1, 1, 1, 1, -100}, .gradients = {{0.5F, 0.5F, 0, 0, 0, 7}}});
  EXPECT_EQ(call.supervised, 2u);
  EXPECT_NEAR(call.sum, 2 * kLoss, 1e-12);
  EXPECT_EQ(call.weight->kind, LossWeight::Kind::kAlike);
}

TEST(LossWeightsTest, AMeanOfMeans) {
  const LossCall rows = call_of({.gradients = {{0.25F, 0.25F, 0.125F, 0.125F, 0.125F, 0.125F}}});
  EXPECT_EQ(rows.weight->kind, LossWeight::Kind::kByStretch);
  EXPECT_EQ(rows.weight->stretches, 2u);
  // The last two are of two tokens each.
  const float sixth = 1 / 6.0F;
  const LossCall documents = call_of({.gradients = {{1 / 3.0F, sixth, sixth, 0, sixth, sixth}}});
  EXPECT_EQ(documents.weight->kind, LossWeight::Kind::kByStretch);
  EXPECT_EQ(documents.weight->stretches, 3u);
}

TEST(LossWeightsTest, WeightsThatAreNoMeans) {
  for (const std::vector<float>& gradient : {std::vector<float>{1, 2, 1, 2, 1, 2},
                                             {1, -1, 1, -1, 1, -1},
                                             {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F},
                                             {3, 3, 1, 1, 1, 1}}) {
    EXPECT_EQ(call_of({.gradients = {gradient}}).weight->kind, LossWeight::Kind::kByToken);
  }
}

// As cross_entropy takes more than two dimensions: one entry, two classes, six tokens.
TEST(LossWeightsTest, ClassesThatAreTheSecondDimension) {
  const LossCall call = call_of({.detail = R"("reduction":"mean")", .gradients = {{1}}, .shape = {1, 2, 6}});
  EXPECT_EQ(call.rows, 6u);
  EXPECT_NEAR(call.weight->sum, kLoss, 1e-12);
}

TEST(LossWeightsTest, LossesThatTrain) {
  const Toy trains{.detail = R"("reduction":"mean","requires_grad":true,"graph":true)", .gradients = {{1}}};
  Toy evaluates = trains;
  evaluates.gradients.clear();
  EXPECT_EQ(training({trains, evaluates}), (std::vector<std::uint32_t>{0}));
  // Without any weight, by whether a gradient can go through them.
  Toy without = evaluates;
  without.detail = R"("reduction":"mean","requires_grad":false,"graph":false)";
  EXPECT_EQ(training({evaluates, without}), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(training({without}), (std::vector<std::uint32_t>{0}));
  // One that is computed again in backward() leaves no weight.
  Toy again = evaluates;
  again.detail = R"("reduction":"mean","requires_grad":true,"graph":false)";
  EXPECT_EQ(training({trains, again}), (std::vector<std::uint32_t>{0, 1}));
  // How a job puts together the losses of tokens is not known without weights.
  EXPECT_EQ(training({evaluates, {}}), (std::vector<std::uint32_t>{0}));
}

}  // namespace
}  // namespace plumbline::checks
