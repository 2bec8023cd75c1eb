#include "shim/torch/statistics.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumbline::shim::adapter {
namespace {

using recorder::CaptureStatistics;
using recorder::Dtype;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
CaptureStatistics statistics(Dtype dtype, const std::vector<T>& values, std::uint64_t elements) {
  return statistics_of(reinterpret_cast<const std::uint8_t*>(values.data()), dtype, elements);
}

TEST(AdapterStatistics, OfFiniteElements) {
  const auto found = statistics<float>(Dtype::kFloat32, {3, -4, 0, 0}, 4);
  EXPECT_EQ(found.elements, 4U);
  EXPECT_EQ(found.sum, -1);
  EXPECT_EQ(found.norm, 5);
  EXPECT_EQ(found.absmax, 4);
  EXPECT_EQ(found.zeros, 2U);
  EXPECT_EQ(found.nans + found.infs, 0U);
}

TEST(AdapterStatistics, OddValuesAreCountedAndLeftOut) {
  const auto found = statistics<float>(Dtype::kFloat32, {kNaN, 2, kInf, -kInf, kNaN, -0.0F}, 6);
  EXPECT_EQ(found.nans, 2U);
  EXPECT_EQ(found.infs, 2U);
  EXPECT_EQ(found.zeros, 1U);
  EXPECT_EQ(found.sum, 2);
  EXPECT_EQ(found.norm, 2);
  EXPECT_EQ(found.absmax, 2);
}

TEST(AdapterStatistics, SumsAreOfDoubles) {
  const float huge = std::numeric_limits<float>::max();
  const auto found = statistics<float>(Dtype::kFloat32, {huge, huge, 1}, 3);
  EXPECT_EQ(found.sum, 2.0 * huge + 1);
  EXPECT_TRUE(std::isfinite(found.norm));
}

TEST(AdapterStatistics, NarrowFloats) {
  EXPECT_EQ(statistics<c10::BFloat16>(Dtype::kBfloat16, {1.5F, -2.0F}, 2).sum, -0.5);
  EXPECT_EQ(statistics<c10::Half>(Dtype::kFloat16, {1.5F, kInf}, 2).infs, 1U);
  // 1.0 and NaN of each of the eight-bit formats.
  EXPECT_EQ(statistics<std::uint8_t>(Dtype::kFloat8E4m3, {0x38, 0x7F}, 2).sum, 1);
  EXPECT_EQ(statistics<std::uint8_t>(Dtype::kFloat8E4m3, {0x38, 0x7F}, 2).nans, 1U);
  EXPECT_EQ(statistics<std::uint8_t>(Dtype::kFloat8E5m2, {0x3C, 0x7C}, 2).sum, 1);
  EXPECT_EQ(statistics<std::uint8_t>(Dtype::kFloat8E5m2, {0x3C, 0x7C}, 2).infs, 1U);
}

TEST(AdapterStatistics, WholeNumbers) {
  EXPECT_EQ(statistics<std::int64_t>(Dtype::kInt64, {-100, 0, 7}, 3).sum, -93);
  EXPECT_EQ(statistics<std::int8_t>(Dtype::kInt8, {-128, 127}, 2).absmax, 128);
  EXPECT_EQ(statistics<std::uint8_t>(Dtype::kBool, {1, 0, 1}, 3).sum, 2);
  EXPECT_EQ(statistics<std::uint16_t>(Dtype::kUint16, {65535}, 1).absmax, 65535);
}

TEST(AdapterStatistics, PartsOfComplexNumbersAreElements) {
  const auto found = statistics<float>(Dtype::kComplex64, {3, 4, 0, kNaN}, 2);
  EXPECT_EQ(found.elements, 4U);
  EXPECT_EQ(found.norm, 5);
  EXPECT_EQ(found.nans, 1U);
}

TEST(AdapterStatistics, OfNothingAndOfUnknownTypes) {
  EXPECT_EQ(statistics<float>(Dtype::kFloat32, {}, 0).norm, 0);
  EXPECT_EQ(statistics<float>(Dtype::kUnknown, {1}, 1).elements, 0U);
}

}  // namespace
}  // namespace plumbline::shim::adapter
