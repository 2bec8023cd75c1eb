#include "checks/replica_gradients.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

ReplicaGradient gradient_of(double tolerance) {
  ReplicaGradient gradient;
  gradient.mean = {1, -2, 4};
  gradient.sizes = {1, 2, 4};
  gradient.tolerance = tolerance;
  return gradient;
}

TEST(ReplicaGradientsTest, AFactorOfEachElement) {
  const ReplicaGradient gradient = gradient_of(1e-6);
  EXPECT_EQ(factor_of({2, -4, 8}, gradient), 2);
  EXPECT_EQ(factor_of({0.25, -0.5, 1}, gradient), 0.25);
  EXPECT_NEAR(factor_of({0.7, -1.4, 2.8}, gradient).value_or(0), 0.7, 1e-12);
}

TEST(ReplicaGradientsTest, RoundedToAWholeNumberOrPart) {
  EXPECT_EQ(factor_of({3.000001, -6, 12}, gradient_of(1e-5)), 3);
  EXPECT_EQ(factor_of({2.02, -4, 8}, gradient_of(0.03)), 2) << "as in bfloat16";
  EXPECT_EQ(factor_of({1 / 3.0, -2 / 3.0, 4 / 3.0000001}, gradient_of(1e-6)), 1 / 3.0);
}

TEST(ReplicaGradientsTest, NothingElse) {
  const ReplicaGradient gradient = gradient_of(1e-6);
  EXPECT_FALSE(factor_of({2, -4, 9}, gradient));
  EXPECT_FALSE(factor_of({-1, 2, -4}, gradient));
  EXPECT_FALSE(factor_of({1, -2}, gradient));
  EXPECT_FALSE(factor_of({}, gradient));
  EXPECT_FALSE(factor_of({0, 0, 0}, ReplicaGradient{{0, 0, 0}, {0, 0, 0}, true, 1e-6}));
}

}  // namespace
}  // namespace plumbline::checks
