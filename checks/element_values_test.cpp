#include "checks/element_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "checks/bounded.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;

std::vector<double> decoded(Dtype dtype, std::vector<std::uint8_t> bytes) {
  std::vector<double> values;
  EXPECT_TRUE(decode(dtype, bytes, values));
  return values;
}

TEST(ElementValues, DecodesEachFloat) {
  EXPECT_EQ(decoded(Dtype::kBfloat16, {0x80, 0x3f, 0x00, 0xc0}), (std::vector<double>{1, -2}));
  EXPECT_EQ(decoded(Dtype::kFloat16, {0x00, 0x3c, 0x01, 0x00}), (std::vector<double>{1, 0x1p-24}));
  EXPECT_EQ(decoded(Dtype::kFloat8E4m3, {0x38, 0xb8}), (std::vector<double>{1, -1}));
  EXPECT_EQ(decoded(Dtype::kFloat8E5m2, {0x3c}), (std::vector<double>{1}));
  EXPECT_TRUE(std::isinf(decoded(Dtype::kFloat16, {0x00, 0x7c})[0]));
  EXPECT_TRUE(std::isnan(decoded(Dtype::kFloat8E4m3, {0x7f})[0]));
  std::vector<double> none;
  EXPECT_FALSE(decode(Dtype::kComplex64, {}, none));
}

TEST(ElementValues, RoundsToNearestEven) {
  EXPECT_EQ(rounded_to(Dtype::kBfloat16, 1 + 0x1p-8), 1);
  EXPECT_EQ(rounded_to(Dtype::kBfloat16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(rounded_to(Dtype::kFloat16, 1 + 0x1p-11), 1);
  EXPECT_EQ(rounded_to(Dtype::kFloat64, 1 + 0x1p-50), 1 + 0x1p-50);
}

TEST(ElementValues, WhatIsTooLargeIsInfinite) {
  EXPECT_EQ(rounded_to(Dtype::kFloat16, 65519), 65504);
  EXPECT_EQ(rounded_to(Dtype::kFloat16, -65520), -HUGE_VAL);
  EXPECT_EQ(rounded_to(Dtype::kBfloat16, 3.4e38), HUGE_VAL);
}

TEST(ElementValues, EachFloat16IsEncodedAsItWas) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double value =
        decoded(Dtype::kFloat16, {static_cast<std::uint8_t>(bits & 0xffU), static_cast<std::uint8_t>(bits >> 8)})[0];
    if (std::isnan(value)) {
      EXPECT_EQ(float16_bits(value) & 0x7fffU, 0x7e00U) << bits;
    } else {
      EXPECT_EQ(float16_bits(value), bits) << value;
    }
  }
}

TEST(Bounded, ErrorsGrowAsOperandsBringThem) {
  const Rounding single{0x1p-24, 0};
  const Bounded a{2, 0.5};
  const Bounded b{4, 0.25};
  EXPECT_EQ((a + b).error, 0.75);
  EXPECT_EQ((a * b).error, 2 * 0.25 + 4 * 0.5 + 0.125);
  EXPECT_EQ(single(exact(1)).error, 0x1p-24);
  EXPECT_TRUE(std::isinf((a / Bounded{1, 1}).error));
  // The bound of a root holds at both ends.
  const Bounded root = square_root(b);
  EXPECT_GE(root.error, std::sqrt(4.25) - 2);
  EXPECT_GE(root.error, 2 - std::sqrt(3.75));
  EXPECT_GE(square_root({0, 0.25}).error, 0.5);
}

}  // namespace
}  // namespace plumbline::checks
