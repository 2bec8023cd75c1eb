#include "shim/torch/part_elements.hpp"

#include <gtest/gtest.h>

#include "recorder/capture_sample.hpp"
#include "shim/torch/testing/fake_host.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using testing::at_places;
using testing::bytes_of;
using testing::counted;
using testing::FakeHost;
using testing::hash_of;
using Bytes = std::vector<std::uint8_t>;
using Numbers = std::vector<std::uint64_t>;

Bytes joined(const Tensors& tensors) {
  Bytes bytes;
  for (const at::Tensor& tensor : tensors) {
    const Bytes one = bytes_of(tensor);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

// Hashes of stretches of `bytes`, so many elements of `size` each.
Numbers hashes_of(const Bytes& bytes, const Numbers& blocks, std::size_t size) {
  Numbers hashes;
  std::size_t at = 0;
  for (const std::uint64_t block : blocks) {
    hashes.push_back(hash_of(bytes.data() + at, block * size));
    at += block * size;
  }
  return hashes;
}

TEST(AdapterPartElements, OneTensorOfEqualBlocks) {
  const FakeHost host;
  for (const at::Tensor& tensor : {counted({4, 6}), counted({6, 4}).t(), counted({4, 12}).slice(1, 0, 12, 2)}) {
    const CollectivePart part{{tensor}, {8, 8, 8}};
    PartElements elements(part);
    ASSERT_TRUE(elements.readable());
    EXPECT_EQ(elements.count(), 24U);
    EXPECT_EQ(elements.dtype(), recorder::Dtype::kFloat32);
    EXPECT_EQ(elements.shape(), (Numbers{4, 6}));
    EXPECT_EQ(elements.all(), bytes_of(tensor));
    EXPECT_EQ(elements.hashes(), hashes_of(bytes_of(tensor), part.blocks, sizeof(float)));
  }
}

TEST(AdapterPartElements, OneTensorOfUnequalBlocks) {
  const FakeHost host;
  const at::Tensor tensor = counted({7, 2}, at::kBFloat16);
  const CollectivePart part{{tensor}, {6, 0, 8}, false};
  PartElements elements(part);
  ASSERT_TRUE(elements.readable());
  EXPECT_EQ(elements.hashes(), hashes_of(bytes_of(tensor), part.blocks, 2));
}

TEST(AdapterPartElements, SeveralTensorsAreBlocks) {
  const FakeHost host;
  const Tensors tensors{counted({2, 3}), counted({0}), counted({4, 3}).t(), counted({})};
  const CollectivePart part{tensors, {6, 0, 12, 1}, false};
  PartElements elements(part);
  ASSERT_TRUE(elements.readable());
  EXPECT_EQ(elements.count(), 19U);
  EXPECT_EQ(elements.shape(), Numbers{19});
  EXPECT_EQ(elements.all(), joined(tensors));
  EXPECT_EQ(elements.hashes(), hashes_of(joined(tensors), part.blocks, sizeof(float)));
}

TEST(AdapterPartElements, ASampleTakesOfEachBlock) {
  const FakeHost host;
  const at::Tensor tensor = counted({3, 100});
  const CollectivePart part{{tensor}, {100, 100, 100}};
  PartElements elements(part);
  const Numbers places = elements.places(8);
  ASSERT_EQ(places.size(), 24U);
  for (std::size_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(places[i], i / 8 * 100 + recorder::sample_place(i % 8, 100, 8));
  EXPECT_EQ(elements.gather(places), at_places(bytes_of(tensor), places, sizeof(float)));
}

TEST(AdapterPartElements, ASampleOfSeveralTensors) {
  const FakeHost host;
  const Tensors tensors{counted({5}), counted({0}), counted({20, 3}).t(), counted({30})};
  const CollectivePart part{tensors, {5, 0, 60, 30}, false};
  PartElements elements(part);
  const Numbers places = elements.places(7);
  EXPECT_EQ(places.size(), 5U + 7U + 7U);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(elements.gather(places), at_places(joined(tensors), places, sizeof(float)));
  EXPECT_TRUE(elements.gather({}).empty());
}

TEST(AdapterPartElements, NothingToMove) {
  const FakeHost host;
  const CollectivePart part{{counted({0, 4})}, {0, 0}};
  PartElements elements(part);
  ASSERT_TRUE(elements.readable());
  EXPECT_EQ(elements.count(), 0U);
  EXPECT_TRUE(elements.all().empty());
  EXPECT_TRUE(elements.places(4).empty());
  EXPECT_EQ(elements.hashes(), Numbers(2, hash_of(nullptr, 0)));
}

TEST(AdapterPartElements, OfOtherTypesThanTheFirstNothingIsRead) {
  const CollectivePart part{{counted({2}), counted({2}, at::kInt)}, {2, 2}};
  EXPECT_FALSE(PartElements(part).readable());
}

TEST(AdapterPartElements, WithoutElementsInReachNothingIsRead) {
  EXPECT_FALSE(PartElements(CollectivePart{}).readable());
  for (const auto& [what, tensor] : testing::without_elements()) {
    const CollectivePart alone{{tensor}, {6}};
    EXPECT_FALSE(PartElements(alone).readable()) << what;
    const CollectivePart second{{counted({6}), tensor}, {6, 6}};
    EXPECT_FALSE(PartElements(second).readable()) << what;
  }
}

// Splits are the job's, and have not been looked at by PyTorch yet.
TEST(AdapterPartElements, BlocksThatAreNotThoseOfTheTensorsAreRefused) {
  const auto negative = static_cast<std::uint64_t>(std::int64_t{-2});
  for (const Numbers& blocks : {Numbers{4}, Numbers{4, 4}, Numbers{}, Numbers{negative, 8}, Numbers{8, negative}}) {
    const CollectivePart part{{counted({6})}, blocks, false};
    EXPECT_FALSE(PartElements(part).readable()) << blocks.size();
  }
  const CollectivePart swapped{{counted({2}), counted({4})}, {4, 2}, false};
  EXPECT_FALSE(PartElements(swapped).readable());
}

}  // namespace
}  // namespace plumbline::shim::adapter
