#include "checks/own_reductions.hpp"

#include <gtest/gtest.h>

#include "checks/testing/captured_run.hpp"

namespace plumbline::checks {
namespace {

using namespace testing;

// Of one parameter in one step: what backward() leaves on each rank, and what the step gets.
struct Gradient {
  std::string name;
  std::vector<std::vector<float>> backward;
  std::vector<std::vector<float>> used;
};

// "ranks: factor", or nothing.
std::string found(const std::vector<Gradient>& gradients) {
  const TempDir directory;
  const std::size_t ranks = gradients.front().backward.size();
  std::string names;
  for (const Gradient& gradient : gradients) names += (names.empty() ? "\"" : ",\"") + gradient.name + "\"";
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    write_trace(directory.path(), static_cast<int>(rank), static_cast<int>(ranks));
    CaptureJob job(directory.path(), static_cast<int>(rank));
    for (const Gradient& gradient : gradients)
      job.tensor("grad.backward", gradient.name, 0, Dtype::kFloat32, {3}, bytes_of(gradient.backward[rank]));
    job.step_note(0, "SGD", {R"({"settings":{"lr":0.1},"params":[)" + names + "]}"});
    for (const Gradient& gradient : gradients) {
      job.tensor("grad", gradient.name, 0, Dtype::kFloat32, {3}, bytes_of(gradient.used[rank]));
      const std::vector<float> weights{0.5F, 0.25F, 2};
      job.tensor("param.before", gradient.name, 0, Dtype::kFloat32, {3}, bytes_of(weights));
      job.tensor("param.after", gradient.name, 0, Dtype::kFloat32, {3}, bytes_of(weights));
    }
    job.finish();
  }
  CapturedRun all(directory);
  const std::vector<CapturedStep> steps = captured_steps(all.captures());
  const auto reductions = own_reductions(all.loader, steps, gradient_trails(all.captures(), steps));
  std::string text;
  for (const auto& [step, one] : reductions) {
    for (const int rank : one.ranks) text += std::to_string(rank) + " ";
    text += std::to_string(one.factor);
  }
  return text;
}

Gradient reduced(const std::string& name, float factor) {
  const std::vector<float> used{2 * factor, 3 * factor, 7 * factor};
  return {name, {{1, 2, 5}, {3, 4, 9}}, {used, used}};
}

TEST(OwnReductionsTest, SumsMeansAndWhatElseTheJobDivides) {
  EXPECT_EQ(found({reduced("w", 2)}), "0 1 2.000000");
  EXPECT_EQ(found({reduced("w", 1), reduced("v", 1)}), "0 1 1.000000");
  EXPECT_EQ(found({reduced("w", 0.03F)}).substr(0, 8), "0 1 0.03");
}

TEST(OwnReductionsTest, NothingWhereParametersDoNotAgree) {
  EXPECT_EQ(found({reduced("w", 1), reduced("v", 2)}), "");
  Gradient other = reduced("v", 1);
  other.used = {{1, 1, 2}, {1, 1, 2}};
  EXPECT_EQ(found({reduced("w", 1), other}), "");
}

// Of tensor parallelism what each rank has for itself is no replica.
TEST(OwnReductionsTest, NothingWhereRanksHaveParametersOfTheirOwn) {
  const Gradient own{"v", {{1, 2, 5}, {3, 4, 9}}, {{1, 2, 5}, {3, 4, 9}}};
  EXPECT_EQ(found({reduced("w", 1), own}), "");
  const Gradient unused{"v", {{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  EXPECT_EQ(found({reduced("w", 1), unused}), "0 1 1.000000");
}

TEST(OwnReductionsTest, WhatBackwardReducedIsNotTheJobsOwn) {
  const std::vector<float> mean{2, 3, 7};
  EXPECT_EQ(found({{"w", {mean, mean}, {mean, mean}}}), "");
}

}  // namespace
}  // namespace plumbline::checks
