#include "checks/reduction_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "checks/element_values.hpp"
#include "checks/testing/capture_job.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;
using recorder::ReduceOp;
using testing::bytes_of;

Form form(ReduceOp reduce, Dtype dtype, const std::vector<double>& given) { return closed_form(reduce, dtype, given); }
Form whole(ReduceOp reduce, Dtype dtype, const std::vector<std::int64_t>& given) {
  return closed_form(reduce, dtype, given);
}

// A sum in the dtype, in this order.
double summed(Dtype dtype, const std::vector<double>& values) {
  double sum = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) sum = rounded_to(dtype, sum + values[i]);
  return sum;
}

TEST(ReductionForm, SumsOfAnyOrderAreInsideOfTheirBound) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBfloat16, Dtype::kFloat16}) {
    double most = 0;
    for (int round = 0; round < 200; ++round) {
      std::vector<double> values(16);
      for (double& value : values) value = rounded_to(dtype, normal(random));
      const Form sum = form(ReduceOp::kSum, dtype, values);
      ASSERT_TRUE(sum.judged);
      std::shuffle(values.begin(), values.end(), random);
      const Elements got{false, {summed(dtype, values)}, {}};
      most = std::max(most, excess(sum, got, 0));
    }
    EXPECT_LE(most, 1);
    EXPECT_GT(most, 0.02);  // and not absurdly far inside
  }
}

TEST(ReductionForm, TwoNumbersAreOneRounding) {
  const Form sum = form(ReduceOp::kSum, Dtype::kFloat32, {1, 0x1p-24});
  EXPECT_LE(excess(sum, {false, {1}, {}}, 0), 1);
  EXPECT_GT(excess(sum, {false, {1 + 0x1p-22}, {}}, 0), 1);
}

TEST(ReductionForm, ExtremesAndSingleNumbersAreExact) {
  EXPECT_EQ(form(ReduceOp::kMax, Dtype::kFloat32, {1, 3, 2}).value, 3);
  EXPECT_EQ(form(ReduceOp::kMin, Dtype::kBfloat16, {1, 3, 2}).value, 1);
  EXPECT_EQ(form(ReduceOp::kMax, Dtype::kFloat32, {1, 3, 2}).bound, 0);
  EXPECT_EQ(form(ReduceOp::kSum, Dtype::kFloat32, {7}).bound, 0);
  EXPECT_TRUE(std::isinf(excess(form(ReduceOp::kMax, Dtype::kFloat32, {1, 3}), {false, {1}, {}}, 0)));
}

TEST(ReductionForm, MeansAndProducts) {
  const Form mean = form(ReduceOp::kAvg, Dtype::kFloat32, {1, 2, 6});
  EXPECT_EQ(mean.value, 3);
  EXPECT_LE(excess(mean, {false, {static_cast<float>(9 * (1.0F / 3))}, {}}, 0), 1);
  EXPECT_EQ(form(ReduceOp::kProd, Dtype::kFloat32, {2, -3, 4}).value, -24);
  EXPECT_FALSE(form(ReduceOp::kProd, Dtype::kFloat16, {300, 300, 1e-3}).judged);  // one order overflows
  EXPECT_FALSE(form(ReduceOp::kProd, Dtype::kFloat32, {1e-20, 1e-20, 1e30}).judged);
}

TEST(ReductionForm, InfinitiesAndNanComeThrough) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(form(ReduceOp::kSum, Dtype::kFloat32, {1, HUGE_VAL}).value));
  EXPECT_EQ(excess(form(ReduceOp::kSum, Dtype::kFloat32, {1, kNan}), {false, {kNan}, {}}, 0), 0);
  EXPECT_TRUE(std::isinf(excess(form(ReduceOp::kSum, Dtype::kFloat32, {1, kNan}), {false, {1}, {}}, 0)));
  EXPECT_FALSE(form(ReduceOp::kMax, Dtype::kFloat32, {1, kNan}).judged);
  EXPECT_FALSE(form(ReduceOp::kSum, Dtype::kFloat16, {60000, 60000}).judged);  // overflows, or not, by the order
}

TEST(ReductionForm, WholeNumbersWrapAround) {
  EXPECT_EQ(whole(ReduceOp::kSum, Dtype::kUint8, {200, 100}).whole, 44);
  EXPECT_EQ(whole(ReduceOp::kSum, Dtype::kInt8, {100, 100}).whole, -56);
  EXPECT_EQ(whole(ReduceOp::kProd, Dtype::kInt64, {INT64_MAX, 2}).whole, -2);
  EXPECT_EQ(whole(ReduceOp::kMax, Dtype::kUint64, {-1, 5}).whole, -1);  // the largest unsigned one
  EXPECT_EQ(whole(ReduceOp::kMax, Dtype::kInt64, {-1, 5}).whole, 5);
  EXPECT_EQ(whole(ReduceOp::kMin, Dtype::kInt32, {-1, 5}).whole, -1);
  EXPECT_EQ(whole(ReduceOp::kBand, Dtype::kInt32, {6, 3}).whole, 2);
  EXPECT_EQ(whole(ReduceOp::kBor, Dtype::kInt32, {6, 3}).whole, 7);
  EXPECT_EQ(whole(ReduceOp::kBxor, Dtype::kInt32, {6, 3}).whole, 5);
}

TEST(ReductionForm, ScaledPartsRoundTwiceMore) {
  const Form sum = form(ReduceOp::kSum, Dtype::kFloat32, {1, 2});
  const Form scaled = form(ReduceOp::kPremulSum, Dtype::kFloat32, {1, 2});
  ASSERT_TRUE(scaled.judged);
  EXPECT_EQ(scaled.value, 3);
  EXPECT_GT(scaled.bound, 2.9 * sum.bound);
  EXPECT_LT(scaled.bound, 3.1 * sum.bound);
  EXPECT_FALSE(form(ReduceOp::kPremulSum, Dtype::kFloat16, {60000, 60000}).judged);
}

TEST(ReductionForm, NothingIsKnownOfOtherOperations) {
  EXPECT_FALSE(form(ReduceOp::kNone, Dtype::kFloat32, {1, 2}).judged);
  EXPECT_FALSE(whole(ReduceOp::kPremulSum, Dtype::kInt32, {1, 2}).judged);
  EXPECT_FALSE(whole(ReduceOp::kAvg, Dtype::kInt32, {1, 2}).judged);
  EXPECT_FALSE(whole(ReduceOp::kSum, Dtype::kBool, {1, 1}).judged);
  EXPECT_FALSE(form(ReduceOp::kSum, Dtype::kFloat32, {}).judged);
}

TEST(Elements, AreReadWithAllTheirDigits) {
  Elements elements;
  ASSERT_TRUE(read_elements(Dtype::kInt64, bytes_of<std::int64_t>({INT64_MAX, -1}), elements));
  EXPECT_EQ(elements.whole, (std::vector<std::int64_t>{INT64_MAX, -1}));
  ASSERT_TRUE(read_elements(Dtype::kUint8, bytes_of<std::uint8_t>({255}), elements));
  EXPECT_EQ(elements.text(0), "255");
  ASSERT_TRUE(read_elements(Dtype::kFloat32, bytes_of<float>({1.5}), elements));
  EXPECT_EQ(elements.text(0), "1.5");
  EXPECT_FALSE(read_elements(Dtype::kComplex64, {}, elements));
}

}  // namespace
}  // namespace plumbline::checks
