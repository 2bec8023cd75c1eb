#include "shim/torch/tensor_list.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

namespace plumbline::shim::adapter {
namespace {

using recorder::Dtype;

std::uint64_t address_of(const at::Tensor& tensor) { return reinterpret_cast<std::uint64_t>(tensor.const_data_ptr()); }

TEST(AdapterTensorList, OneTensor) {
  const at::Tensor tensor = at::zeros({3, 4}, at::kBFloat16);
  TensorList list;
  list.add(tensor);
  EXPECT_EQ(list.tensors, 1U);
  EXPECT_EQ(list.elements, 12U);
  EXPECT_EQ(list.dtype, Dtype::kBfloat16);
  EXPECT_EQ(list.buffer, address_of(tensor));
}

TEST(AdapterTensorList, SeveralAreSummedAndTheFirstSpeaks) {
  const std::vector<at::Tensor> tensors{at::zeros({2}, at::kInt), at::zeros({5}, at::kFloat)};
  TensorList list;
  list.add(std::vector<std::vector<at::Tensor>>{tensors, {at::zeros({}, at::kDouble)}});
  EXPECT_EQ(list.tensors, 3U);
  EXPECT_EQ(list.elements, 8U);
  EXPECT_EQ(list.dtype, Dtype::kInt32);
  EXPECT_EQ(list.buffer, address_of(tensors[0]));
}

TEST(AdapterTensorList, AViewHasItsOwnAddress) {
  const at::Tensor whole = at::zeros({10}, at::kFloat);
  TensorList list;
  list.add(whole.narrow(0, 4, 3));
  EXPECT_EQ(list.elements, 3U);
  EXPECT_EQ(list.buffer, address_of(whole) + 4 * sizeof(float));
}

TEST(AdapterTensorList, EmptyAndUndefinedTensors) {
  TensorList list;
  list.add(at::Tensor());
  EXPECT_EQ(list.tensors, 1U);
  EXPECT_EQ(list.dtype, Dtype::kUnknown);
  TensorList empty;
  empty.add(at::zeros({0, 7}, at::kFloat));
  EXPECT_EQ(empty.elements, 0U);
  EXPECT_EQ(empty.dtype, Dtype::kFloat32);
  EXPECT_EQ(empty.buffer, 0U);
}

TEST(AdapterTensorList, OfATensorWithoutStorageTheSizeIsKnown) {
  TensorList list;
  list.add(at::empty({6}, at::TensorOptions().device(at::kMeta)));
  EXPECT_EQ(list.elements, 6U);
  EXPECT_EQ(list.buffer, 0U);
}

TEST(AdapterTensorList, TheNumberDoesNotWrap) {
  TensorList list;
  const at::Tensor one = at::zeros({1}, at::kFloat);
  const std::size_t more = std::numeric_limits<std::uint16_t>::max() + std::size_t{10};
  for (std::size_t i = 0; i < more; ++i) list.add(one);
  EXPECT_EQ(list.tensors, std::numeric_limits<std::uint16_t>::max());
  EXPECT_EQ(list.elements, more);
}

}  // namespace
}  // namespace plumbline::shim::adapter
