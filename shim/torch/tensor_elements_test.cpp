#include "shim/torch/tensor_elements.hpp"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/hash_tensor.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "recorder/dtype_size.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using testing::bytes_of;
using testing::counted;
using Bytes = std::vector<std::uint8_t>;

Bytes all_of(TensorElements& elements) {
  const std::uint8_t* const first = elements.all();
  return {first, first + elements.bytes()};
}

// All elements, one by one.
Bytes gathered(TensorElements& elements) {
  std::vector<std::uint64_t> places(elements.count());
  std::iota(places.begin(), places.end(), 0);
  Bytes bytes;
  EXPECT_TRUE(elements.gather(places, bytes));
  return bytes;
}

void expect_elements(const at::Tensor& tensor, const std::string& what) {
  SCOPED_TRACE(what);
  TensorElements elements(tensor, {});
  ASSERT_TRUE(elements.readable());
  EXPECT_EQ(elements.count(), static_cast<std::uint64_t>(tensor.numel()));
  EXPECT_EQ(elements.bytes(), tensor.nbytes());
  EXPECT_EQ(elements.shape(), std::vector<std::uint64_t>(tensor.sizes().begin(), tensor.sizes().end()));
  EXPECT_EQ(all_of(elements), bytes_of(tensor));
  EXPECT_EQ(gathered(elements), bytes_of(tensor));
}

TEST(AdapterTensorElements, ContiguousOnesAreReadInPlace) {
  const at::Tensor tensor = counted({3, 4});
  TensorElements elements(tensor, {});
  EXPECT_EQ(elements.all(), tensor.const_data_ptr());
  expect_elements(tensor, "contiguous");
  const at::Tensor row = tensor.narrow(0, 1, 2);
  EXPECT_EQ(TensorElements(row, {}).all(), row.const_data_ptr());
  expect_elements(row, "rows of it");
}

TEST(AdapterTensorElements, OfEveryType) {
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble, at::kBFloat16,
        at::kBool, at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
    expect_elements(counted({2, 3}, type), c10::toString(type));
    expect_elements(counted({4, 6}, type).slice(1, 1, 6, 2), c10::toString(type));
  }
}

TEST(AdapterTensorElements, StridedViews) {
  const at::Tensor whole = counted({4, 5, 6});
  expect_elements(whole.transpose(0, 2), "transposed");
  expect_elements(whole.permute({1, 2, 0}), "permuted");
  expect_elements(whole.narrow(1, 2, 2), "columns");
  expect_elements(whole.slice(2, 1, 6, 3), "every third");
  expect_elements(whole.select(1, 3), "a plane");
  expect_elements(whole.select(2, 0).select(1, 1), "a strided row");
  expect_elements(counted({3, 1}).expand({3, 4}), "expanded");
  expect_elements(counted({}).expand({2, 3}), "one number everywhere");
  expect_elements(at::as_strided(whole, {3, 3}, {1, 1}, 2), "overlapping rows");
  expect_elements(counted({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast), "channels last");
}

TEST(AdapterTensorElements, WithoutDimensionsAndWithoutElements) {
  expect_elements(counted({}), "a number");
  expect_elements(counted({4, 3}).narrow(1, 1, 1), "a column");
  expect_elements(counted({0}), "none");
  expect_elements(counted({0, 3}), "no rows");
  expect_elements(counted({3, 0}), "no columns");
  expect_elements(counted({3, 4}).narrow(1, 4, 0), "nothing of a view");
}

TEST(AdapterTensorElements, SomeOfAView) {
  const at::Tensor view = counted({4, 6}).t();
  TensorElements elements(view, {});
  Bytes some;
  ASSERT_TRUE(elements.gather({0, 5, 23}, some));
  EXPECT_EQ(some, testing::at_places(bytes_of(view), {0, 5, 23}, sizeof(float)));
  ASSERT_TRUE(elements.gather({}, some));
  EXPECT_TRUE(some.empty());
}

TEST(AdapterTensorElements, IntervalsOfARow) {
  const at::Tensor row = counted({20});
  for (const at::Tensor& tensor : {row, row.slice(0, 1, 20, 2)}) {
    TensorElements elements(tensor, {2, 5});
    ASSERT_TRUE(elements.readable());
    EXPECT_EQ(elements.shape(), std::vector<std::uint64_t>{5});
    EXPECT_EQ(all_of(elements), bytes_of(tensor.narrow(0, 2, 5)));
    EXPECT_EQ(gathered(elements), bytes_of(tensor.narrow(0, 2, 5)));
  }
  EXPECT_TRUE(TensorElements(row, {20, 0}).readable());
}

TEST(AdapterTensorElements, SomeRowsOfAMatrix) {
  const at::Tensor matrix = counted({6, 4});
  for (const at::Tensor& tensor : {matrix, matrix.slice(1, 0, 4, 2), counted({4, 6}).t()}) {
    TensorElements elements(tensor, {2, 3});
    ASSERT_TRUE(elements.readable());
    EXPECT_EQ(elements.shape(), (std::vector<std::uint64_t>{3, static_cast<std::uint64_t>(tensor.size(1))}));
    EXPECT_EQ(all_of(elements), bytes_of(tensor.narrow(0, 2, 3)));
    EXPECT_EQ(gathered(elements), bytes_of(tensor.narrow(0, 2, 3)));
  }
  TensorElements none(matrix, {6, 0});
  EXPECT_TRUE(none.readable());
  EXPECT_EQ(none.count(), 0U);
}

TEST(AdapterTensorElements, IntervalsThatAreNoneAreRefused) {
  const at::Tensor row = counted({20});
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  for (const Interval interval :
       {Interval{16, 5}, Interval{-1, 5}, Interval{21, 0}, Interval{kMost, 1}, Interval{1, kMost}})
    EXPECT_FALSE(TensorElements(row, interval).readable()) << interval.first << "+" << interval.count;
  EXPECT_FALSE(TensorElements(counted({4, 5}), {0, 5}).readable());
  EXPECT_FALSE(TensorElements(counted({}), {0, 1}).readable());
}

TEST(AdapterTensorElements, WithoutElementsInReachNothingIsRead) {
  for (const auto& [what, tensor] : testing::without_elements())
    EXPECT_FALSE(TensorElements(tensor, {}).readable()) << what;
}

TEST(AdapterTensorElements, AnEmptyTensorNeedsNoStorage) {
  const at::Tensor tensor = counted({6});
  const at::Tensor none = tensor.narrow(0, 6, 0);
  tensor.storage().unsafeGetStorageImpl()->set_nbytes(0);
  EXPECT_TRUE(TensorElements(none, {}).readable());
}

TEST(AdapterTensorElements, HashOfTorchIsThatOfTheElements) {
  const at::Tensor whole = counted({20});
  const at::Tensor view = whole.slice(0, 1, 20, 2);
  std::uint64_t hash = 0;
  TensorElements elements(view, {2, 5});
  ASSERT_TRUE(elements.torch_hash(hash));
  EXPECT_EQ(hash, at::hash_tensor(view.narrow(0, 2, 5).clone()).item().toUInt64());
  TensorElements none(counted({0}), {});
  EXPECT_FALSE(none.torch_hash(hash));
}

}  // namespace
}  // namespace plumbline::shim::adapter
