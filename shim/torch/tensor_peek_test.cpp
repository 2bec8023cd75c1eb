#include "shim/torch/tensor_peek.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_neg_view.h>
#include <gtest/gtest.h>

#include <cmath>

#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using testing::counted;

const c10::TensorImpl& impl(const at::Tensor& tensor) { return *tensor.unsafeGetTensorImpl(); }

TEST(AdapterTensorPeek, TheValueOfOneNumberOfEveryType) {
  for (const at::ScalarType type : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat,
                                    at::kDouble, at::kBFloat16, at::kUInt16, at::kUInt32, at::kUInt64}) {
    EXPECT_EQ(scalar_of(impl(testing::number(5, type))), 5) << c10::toString(type);
  }
  EXPECT_EQ(scalar_of(impl(testing::number(1, at::kBool))), 1);
  EXPECT_EQ(scalar_of(impl(testing::number(-2, at::kChar).view({1, 1}))), -2);
}

TEST(AdapterTensorPeek, AViewHasItsOwnNumber) { EXPECT_EQ(scalar_of(impl(counted({4}).narrow(0, 3, 1))), 3); }

TEST(AdapterTensorPeek, WhatIsNotOneRealNumberHasNoValue) {
  EXPECT_TRUE(std::isnan(scalar_of(impl(counted({2})))));
  EXPECT_TRUE(std::isnan(scalar_of(impl(counted({0})))));
  EXPECT_TRUE(std::isnan(scalar_of(impl(counted({1}, at::kComplexFloat)))));
  for (const auto& [what, tensor] : testing::without_elements())
    EXPECT_TRUE(std::isnan(scalar_of(impl(tensor)))) << what;
  EXPECT_TRUE(std::isnan(scalar_of(impl(at::_neg_view(counted({1}))))));
  const at::Tensor freed = counted({1});
  freed.storage().unsafeGetStorageImpl()->reset();
  EXPECT_TRUE(std::isnan(scalar_of(impl(freed))));
}

TEST(AdapterTensorPeek, ElementsAreThoseOfTheShape) {
  EXPECT_EQ(elements_of(impl(counted({3, 4}))), 12U);
  EXPECT_EQ(elements_of(impl(counted({}))), 1U);
  EXPECT_EQ(elements_of(impl(counted({0, 4}))), 0U);
  EXPECT_EQ(elements_of(impl(counted({5, 1}).expand({5, 3}))), 15U);
  EXPECT_EQ(elements_of(impl(counted({2, 3}).to_sparse())), 6U);
  EXPECT_EQ(elements_of(impl(at::Tensor())), 0U);
}

TEST(AdapterTensorPeek, AGradient) {
  const at::Tensor tensor = counted({2}).requires_grad_(true);
  EXPECT_FALSE(has_grad(impl(tensor)));
  tensor.mutable_grad() = counted({2});
  EXPECT_TRUE(has_grad(impl(tensor)));
  EXPECT_FALSE(has_grad(impl(counted({2}))));
}

}  // namespace
}  // namespace plumbline::shim::adapter
