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

// What backward() left and what the step got, of two parameters.
double divisor(const Values& left, const Values& used, const Values& left2 = {0, 0}, const Values& used2 = {0, 0}) {
  const TempDir directory;
  CaptureJob job(directory.path(), 3);
  job.tensor("grad.backward", "w", 5, Dtype::kFloat32, {2}, bytes_of(left));
  job.tensor("grad.backward", "b", 5, Dtype::kFloat32, {2}, bytes_of(left2));
  job.step_note(5, "SGD", {R"({"settings":{"lr":0.1},"params":["w","b"]})"});
  job.tensor("grad", "w", 5, Dtype::kFloat32, {2}, bytes_of(used));
  job.tensor("grad", "b", 5, Dtype::kFloat32, {2}, bytes_of(used2));
  for (const char* probe : {"param.before", "param.after"}) {
    for (const char* name : {"w", "b"}) job.tensor(probe, name, 5, Dtype::kFloat32, {2}, bytes_of(left));
  }
  job.finish();
  reader::Result<reader::RunCaptures> captures = reader::RunCaptures::open(directory.path());
  CaptureLoader loader(*captures);
  const std::vector<CapturedStep> steps = captured_steps(*captures);
  const auto divisors = gradient_divisors(loader, gradient_trails(*captures, steps));
  const auto at = divisors.find({3, 5});
  return at == divisors.end() ? 1 : at->second;
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

TEST(GradientUnscaleTest, WhatIsNoScale) {
  EXPECT_EQ(divisor({1, 2}, {1, 2}), 1);
  EXPECT_EQ(divisor({0, 0}, {0, 0}), 1);
  EXPECT_EQ(divisor({1, 2}, {-1, -2}), 1) << "the other sign";
  EXPECT_EQ(divisor({512, -1024}, {2, -8}), 1) << "elements differ";
  EXPECT_EQ(divisor({512, 0}, {2, 0}, {256, 768}, {2, 6}), 1) << "parameters differ";
}

}  // namespace
}  // namespace plumbline::checks
