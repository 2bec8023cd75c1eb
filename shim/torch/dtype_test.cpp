#include "shim/torch/dtype.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/complex.h>
#include <gtest/gtest.h>

#include <set>

#include "recorder/dtype_size.hpp"

namespace plumbline::shim::adapter {
namespace {

using c10::ScalarType;
using recorder::Dtype;

TEST(AdapterDtype, ElementsAreAsLargeAsTorchHasThem) {
  for (int number = 0; number < static_cast<int>(ScalarType::NumOptions); ++number) {
    const auto type = static_cast<ScalarType>(number);
    const Dtype dtype = dtype_of(type);
    if (dtype == Dtype::kUnknown) continue;
    EXPECT_EQ(recorder::size_of(dtype), c10::elementSize(type)) << c10::toString(type);
  }
}

TEST(AdapterDtype, EachWordIsOfOneType) {
  std::set<Dtype> seen;
  for (int number = 0; number < static_cast<int>(ScalarType::NumOptions); ++number) {
    const Dtype dtype = dtype_of(static_cast<ScalarType>(number));
    if (dtype != Dtype::kUnknown) {
      EXPECT_TRUE(seen.insert(dtype).second) << number;
    }
  }
  EXPECT_EQ(seen.size(), 17U);
}

TEST(AdapterDtype, TypesOfModels) {
  EXPECT_EQ(dtype_of(ScalarType::Float), Dtype::kFloat32);
  EXPECT_EQ(dtype_of(ScalarType::BFloat16), Dtype::kBfloat16);
  EXPECT_EQ(dtype_of(ScalarType::Long), Dtype::kInt64);
  EXPECT_EQ(dtype_of(ScalarType::Float8_e4m3fn), Dtype::kFloat8E4m3);
}

TEST(AdapterDtype, TypesWithoutAWord) {
  for (const ScalarType type : {ScalarType::QInt8, ScalarType::ComplexHalf, ScalarType::Undefined})
    EXPECT_EQ(dtype_of(type), Dtype::kUnknown) << c10::toString(type);
}

}  // namespace
}  // namespace plumbline::shim::adapter
