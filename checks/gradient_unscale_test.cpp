#include "checks/gradient_unscale.hpp"

#include <gtest/gtest.h>

#include "checks/testing/capture_job.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using recorder::Dtype;
using testing::bytes_of;
using testing::CaptureJob;

using Values = std::vector<float>;

// Of the parameters w, b and c.
using Gradients = std::vector<Values>;

// Of what each backward() left and what the step got.
double divisor(const std::vector<Gradients>& left, const Gradients& used) {
  const std::vector<std::string> names = {"w", "b", "c"};
  const TempDir directory;
  CaptureJob job(directory.path(), 3);
  const auto put = [&](const char* probe, const Gradients& gradients) {
    for (std::size_t i = 0; i < gradients.size(); ++i)
      job.tensor(probe, names[i], 5, Dtype::kFloat32, {2}, bytes_of(gradients[i]));
  };
  for (const Gradients& after_one : left) put("grad.backward", after_one);
  job.step_note(5, "SGD", {R"({"settings":{"lr":0.1},"params":["w","b","c"]})"});
  put("grad", used);
  put("param.before", used);
  put("param.after", used);
  job.finish();
  reader::Result<reader::RunCaptures> captures = reader::RunCaptures::open(directory.path());
  CaptureLoader loader(*captures);
  const std::vector<CapturedStep> steps = captured_steps(*captures);
  const auto divisors = gradient_divisors(loader, gradient_trails(*captures, steps));
  const auto at = divisors.find({3, 5});
  return at == divisors.end() ? 1 : at->second;
}

double divisor(const Values& left, const Values& used, const Values& left2 = {0, 0}, const Values& used2 = {0, 0}) {
  return divisor({Gradients{left, left2}}, Gradients{used, used2});
}

TEST(GradientUnscaleTest, APowerOfTwoThatAllElementsShare) {
  EXPECT_EQ(divisor({512, -1024}, {2, -4}), 256);
  EXPECT_EQ(divisor({512, 0}, {2, 0}, {256, 768}, {1, 3}), 256) << "zeros say nothing";
}

TEST(GradientUnscaleTest, AnyOtherNumberToRounding) {
  EXPECT_EQ(divisor({3, 6}, {1, 2}), 3);
  EXPECT_EQ(divisor({1, 2}, {1 / 51.0F, 2 / 51.0F}, {5, 7}, {5 / 51.0F, 7 / 51.0F}), 51);
  const float reciprocal = 1 / 51.0F;
  EXPECT_EQ(divisor({1, 2}, {reciprocal, 2 * reciprocal}, {5, 7}, {5 * reciprocal, 7 * reciprocal}), 51);
  EXPECT_NEAR(divisor({5, 7}, {5 / 51.5F, 7 / 51.5F}), 51.5, 51.5 * 0x1p-23);
  EXPECT_EQ(divisor({1, 2}, {4, 8}), 0.25) << "multiplied";
}

TEST(GradientUnscaleTest, StagesThatAreScaledOneAfterTheOther) {
  // w is done and divided by 4 before the last backward() of b.
  EXPECT_EQ(divisor({{{4, 8}, {1, 1}}, {{8, 12}, {1, 1}}, {{2, 3}, {3, 5}}}, {{2, 3}, {0.75, 1.25}}), 4);
  EXPECT_EQ(divisor({{{4, 8}, {3, 5}}, {{8, 16}, {3, 5}}}, {{8, 16}, {0.75, 1.25}}), 1)
      << "the same batch twice is no scale";
}

TEST(GradientUnscaleTest, SomethingIsAddedToAFewBesides) {
  const std::vector<Gradients> left = {{{4, 8}, {4, 4}, {8, 12}}};
  EXPECT_EQ(divisor(left, {{1, 2}, {1, 1}, {3, 3.5}}), 4);
  EXPECT_EQ(divisor(left, {{1, 2}, {2, 3}, {3, 3.5}}), 1) << "to most";
}

TEST(GradientUnscaleTest, WhatIsNoScale) {
  EXPECT_EQ(divisor({1, 2}, {1, 2}), 1);
  EXPECT_EQ(divisor({0, 0}, {0, 0}), 1);
  EXPECT_EQ(divisor({1, 2}, {-1, -2}), 1) << "the other sign";
  EXPECT_EQ(divisor({512, -1024}, {2, -8}), 1) << "elements differ";
  EXPECT_EQ(divisor({512, 0}, {2, 0}, {256, 768}, {2, 6}), 1) << "parameters differ";
}

}  // namespace
}  // namespace plumbline::checks
