#include "reader/checkpoint/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reader/checkpoint/small_float.hpp"

namespace plumbline::reader {
namespace {

float rounded(DType dtype, float value) {
  std::byte bytes[8] = {};
  write_floats(dtype, {&value, 1}, bytes);
  float back = 0;
  read_floats(dtype, bytes, 0, {&back, 1});
  return back;
}

TEST(DTypeTest, NamesGoBothWays) {
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_named(""), std::nullopt);
  EXPECT_EQ(dtype_of_torch("torch.bfloat16"), DType::kBF16);
  EXPECT_EQ(dtype_of_torch("float8_e4m3fn"), DType::kF8E4M3);
  EXPECT_EQ(dtype_of_torch("quint8"), std::nullopt);
}

TEST(DTypeTest, Bf16RoundsToTheNearestWithTiesToEven) {
  EXPECT_EQ(rounded(DType::kBF16, 257.0F), 256.0F);
  EXPECT_EQ(rounded(DType::kBF16, 259.0F), 260.0F);
  EXPECT_EQ(rounded(DType::kBF16, 10000.0F), 9984.0F);
  EXPECT_EQ(rounded(DType::kBF16, std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded(DType::kBF16, std::numeric_limits<float>::quiet_NaN())));
}

TEST(DTypeTest, Fp16RoundsToTheNearestWithTiesToEven) {
  EXPECT_EQ(rounded(DType::kF16, 2049.0F), 2048.0F);
  EXPECT_EQ(rounded(DType::kF16, 2051.0F), 2052.0F);
  EXPECT_EQ(rounded(DType::kF16, 65519.0F), 65504.0F);
  EXPECT_EQ(rounded(DType::kF16, 65520.0F), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(DType::kF16, std::ldexp(1.0F, -24)), std::ldexp(1.0F, -24)) << "the smallest that is not zero";
  EXPECT_EQ(rounded(DType::kF16, std::ldexp(1.0F, -25)), 0.0F);
  EXPECT_EQ(rounded(DType::kF16, std::ldexp(3.0F, -26)), std::ldexp(1.0F, -24));
  EXPECT_TRUE(std::signbit(rounded(DType::kF16, -0.0F)));
}

TEST(DTypeTest, EveryCodeOfASmallTypeComesBack) {
  for (const SmallFloat& type : {kHalf, kE4M3, kE5M2}) {
    for (std::uint32_t code = 0; code <= 2 * type.all_ones() + 1; ++code) {
      const float value = type.decode(code);
      if (std::isnan(value)) continue;
      EXPECT_EQ(type.encode(value), code);
    }
  }
}

TEST(DTypeTest, Fp8HasItsLimits) {
  EXPECT_EQ(kE4M3.decode(0x7e), 448.0F);
  EXPECT_TRUE(std::isnan(kE4M3.decode(0x7f)));
  EXPECT_EQ(kE5M2.decode(0x7b), 57344.0F);
  EXPECT_TRUE(std::isinf(kE5M2.decode(0x7c)));
}

TEST(DTypeTest, ValuesOfEveryTypeAreRead) {
  const std::byte minus_two[8] = {std::byte{0xfe}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                  std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  EXPECT_EQ(value_at(DType::kI8, minus_two, 0), -2);
  EXPECT_EQ(value_at(DType::kI16, minus_two, 0), -2);
  EXPECT_EQ(value_at(DType::kI32, minus_two, 0), -2);
  EXPECT_EQ(value_at(DType::kI64, minus_two, 0), -2);
  EXPECT_EQ(value_at(DType::kU8, minus_two, 0), 254);
  EXPECT_EQ(value_at(DType::kU16, minus_two, 0), 65534);
  EXPECT_EQ(value_at(DType::kU32, minus_two, 0), 4294967294.0);
  const std::byte one[8] = {{}, {}, {}, {}, {}, {}, std::byte{0xf0}, std::byte{0x3f}};
  EXPECT_EQ(value_at(DType::kF64, one, 0), 1.0);
  const std::byte powers[2] = {std::byte{128}, std::byte{126}};
  EXPECT_EQ(value_at(DType::kF8E8M0, powers, 0), 2.0);
  EXPECT_EQ(value_at(DType::kF8E8M0, powers, 1), 0.5);
  EXPECT_EQ(value_at(DType::kBool, powers, 1), 126) << "as it stands: a truth value is 0 or 1 in a sound file";
}

TEST(DTypeTest, PrecisionSaysUpToWhereNumbersCount) {
  EXPECT_EQ(precision_of(DType::kBF16), 8);
  EXPECT_EQ(precision_of(DType::kF16), 11);
  EXPECT_FALSE(is_floating(DType::kI64));
}

}  // namespace
}  // namespace plumbline::reader
