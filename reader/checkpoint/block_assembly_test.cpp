#include "reader/checkpoint/block_assembly.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader {
namespace {

using Numbers = std::vector<std::uint64_t>;
constexpr std::uint64_t kMost = 1 << 20;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(BlockAssemblyTest, ColumnsAndRowsOfAMatrix) {
  BlockAssembly whole;
  ASSERT_TRUE(whole.begin({2, 3}, 1, kMost));
  EXPECT_TRUE(whole.add(Numbers{2, 1}, Numbers{0, 2}, bytes({3, 6})));
  EXPECT_EQ(whole.absent(), 4U);
  EXPECT_TRUE(whole.add(Numbers{1, 2}, Numbers{0, 0}, bytes({1, 2})));
  EXPECT_TRUE(whole.add(Numbers{1, 2}, Numbers{1, 0}, bytes({4, 5})));
  EXPECT_EQ(whole.absent(), 0U);
  EXPECT_EQ(*whole.bytes(), bytes({1, 2, 3, 4, 5, 6}));
}

TEST(BlockAssemblyTest, ThreeDimensionsAndNone) {
  BlockAssembly cube;
  ASSERT_TRUE(cube.begin({2, 2, 2}, 1, kMost));
  EXPECT_TRUE(cube.add(Numbers{2, 1, 2}, Numbers{0, 1, 0}, bytes({1, 2, 3, 4})));
  EXPECT_EQ(*cube.bytes(), bytes({0, 0, 1, 2, 0, 0, 3, 4}));
  BlockAssembly scalar;
  ASSERT_TRUE(scalar.begin({}, 2, kMost));
  EXPECT_TRUE(scalar.add(Numbers{}, Numbers{}, bytes({7, 8})));
  EXPECT_EQ(scalar.absent(), 0U);
}

TEST(BlockAssemblyTest, WhatDoesNotFitIsRefused) {
  BlockAssembly whole;
  EXPECT_FALSE(whole.begin({std::uint64_t{1} << 40}, 4, kMost));
  EXPECT_FALSE(whole.begun());
  ASSERT_TRUE(whole.begin({4}, 1, kMost));
  EXPECT_FALSE(whole.add(Numbers{2}, Numbers{3}, bytes({1, 2})));
  EXPECT_FALSE(whole.add(Numbers{2}, Numbers{~std::uint64_t{0}}, bytes({1, 2})));
  EXPECT_FALSE(whole.add(Numbers{5}, Numbers{0}, bytes({1, 2, 3, 4, 5})));
  EXPECT_FALSE(whole.add(Numbers{2}, Numbers{0}, bytes({1})));
  EXPECT_FALSE(whole.add(Numbers{2, 1}, Numbers{0, 0}, bytes({1, 2})));
  EXPECT_TRUE(whole.add(Numbers{0}, Numbers{4}, {}));
}

}  // namespace
}  // namespace plumbline::reader
