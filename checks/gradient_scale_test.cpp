#include "checks/gradient_scale.hpp"

#include <gtest/gtest.h>

#include "checks/testing/captured_run.hpp"
#include "checks/testing/toy_loss.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// Of one rank in one step.
struct Gradient {
  std::vector<float> kept{};  // empty: none
  std::vector<float> backward;
  std::vector<float> used;
};

std::vector<std::string> titles(const std::vector<std::vector<Gradient>>& ranks) {
  const TempDir directory;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto number = static_cast<int>(i);
    write_trace(directory.path(), number, static_cast<int>(ranks.size()));
    CaptureJob job(directory.path(), number);
    TensorPlace place;
    for (std::size_t k = 0; k < ranks.size() && ranks.size() > 1; ++k)
      place.replicas.push_back(static_cast<std::int32_t>(k));
    const std::vector<float> weights{0.5F, 0.25F};
    std::int64_t step = 0;
    for (const Gradient& gradient : ranks[i]) {
      if (!gradient.kept.empty())
        job.tensor("grad.kept", "w", step, Dtype::kFloat32, {2}, bytes_of(gradient.kept), place);
      job.tensor("grad.backward", "w", step, Dtype::kFloat32, {2}, bytes_of(gradient.backward), place);
      job.step_note(step, "SGD", {R"({"settings":{"lr":0.1},"params":["w"]})"});
      job.tensor("grad", "w", step, Dtype::kFloat32, {2}, bytes_of(gradient.used), place);
      job.tensor("param.before", "w", step, Dtype::kFloat32, {2}, bytes_of(weights), place);
      job.tensor("param.after", "w", step, Dtype::kFloat32, {2}, bytes_of(weights), place);
      ++step;
    }
    job.finish();
  }
  CapturedRun all(directory);
  Observations observations;
  examine_gradient_scale(all.subject, all.loader, captured_steps(all.captures()), observations);
  std::vector<std::string> found;
  for (const Finding& finding : observations.findings(all.subject))
    found.push_back((finding.status == Status::kFail ? "fail: " : "open: ") + finding.title);
  return found;
}

TEST(GradientScaleTest, MeanAndSumOfTheRanksAreSilent) {
  EXPECT_TRUE(titles({{{{}, {1, 2}, {2, 3}}}, {{{}, {3, 4}, {2, 3}}}}).empty());
  // Losses may have been divided by what all ranks have.
  EXPECT_TRUE(titles({{{{}, {1, 2}, {4, 6}}}, {{{}, {3, 4}, {4, 6}}}}).empty());
  // Reduced in backward().
  EXPECT_TRUE(titles({{{{}, {2, 3}, {2, 3}}}, {{{}, {2, 3}, {2, 3}}}}).empty());
  // Divided by a scale, or something else altogether.
  EXPECT_TRUE(titles({{{{}, {2, 3}, {0.5F, 0.75F}}}}).empty());
  EXPECT_TRUE(titles({{{{}, {2, 3}, {4, 3}}}}).empty());
}

// No collective is seen between backward() and the step: what multiplies it may be meant.
TEST(GradientScaleTest, AFactorWithoutACollectiveIsLeftOpen) {
  const auto world = titles({{{{}, {2, 3}, {4, 6}}}, {{{}, {2, 3}, {4, 6}}}});
  ASSERT_EQ(world.size(), 1u);
  EXPECT_EQ(world[0],
            "open: step 0, ranks 0,1: w gets 2.00 x the gradient that backward() left, in the mean over its replicas");
  const auto alone = titles({{{{}, {2, 3}, {6, 9}}}});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0], "open: step 0, rank 0: w gets 3.00 x the gradient that backward() left");
}

// A loss over the tokens of all ranks, whose gradients data parallelism averages, and the job multiplies again.
TEST(GradientScaleTest, AFactorThatMakesUpForTheLoss) {
  const auto findings_of = [](const testing::ToyLoss& toy) {
    const TempDir directory;
    for (int rank = 0; rank < toy.ranks; ++rank) {
      write_trace(directory.path(), rank, toy.ranks);
    }
    toy.write(directory.path());
    CapturedRun all(directory);
    Observations observations;
    examine_gradient_scale(all.subject, all.loader, captured_steps(all.captures()), observations);
    return observations.findings(all.subject).size();
  };
  EXPECT_EQ(findings_of({.factor = 0.25, .divisor = 0.5}), 0u);
  EXPECT_EQ(findings_of({.factor = 0.125, .divisor = 0.25}), 0u);
  EXPECT_EQ(findings_of({.factor = 0.5, .divisor = 0.5}), 1u);
  EXPECT_EQ(findings_of({.factor = 0.25, .divisor = 0.25}), 1u) << "it makes up for half of it";
}

TEST(GradientScaleTest, AGradientThatIsStillThereAtTheNextStep) {
  const auto kept = titles({{{{}, {1, 2}, {1, 2}}, {{1, 2}, {4, 6}, {4, 6}}}});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0],
            "fail: step 1, rank 0: w still has the gradient of step 0 when backward() begins: it counts twice");
  // A copy that is stepped in the parameter's place is given its gradient by hand, and backward() does not reach it.
  EXPECT_TRUE(titles({{{{}, {1, 2}, {1, 2}}, {{1, 2}, {1, 2}, {4, 6}}}}).empty());
  // Zeros, and what is not that gradient, are no leftover.
  EXPECT_TRUE(titles({{{{}, {1, 2}, {1, 2}}, {{0, 0}, {4, 6}, {4, 6}}}}).empty());
  EXPECT_TRUE(titles({{{{}, {1, 2}, {1, 2}}, {{1, 3}, {4, 6}, {4, 6}}}}).empty());
}

}  // namespace
}  // namespace plumbline::checks
