#include "reader/flat_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace plumbline::reader {
namespace {

TEST(FlatMapTest, InsertFindErase) {
  FlatMap<int> map;
  auto [entry, found] = map.insert(5);
  EXPECT_FALSE(found);
  entry->value = 50;
  EXPECT_TRUE(map.insert(5).second);
  EXPECT_EQ(map.find(5)->value, 50);
  EXPECT_EQ(map.find(6), nullptr);
  map.erase(map.find(5));
  EXPECT_EQ(map.find(5), nullptr);
  EXPECT_EQ(map.size(), 0u);
}

TEST(FlatMapTest, ZeroIsAKeyLikeOthers) {
  FlatMap<int> map;
  map.insert(0).first->value = 7;
  EXPECT_EQ(map.size(), 1u);
  ASSERT_NE(map.find(0), nullptr);
  EXPECT_EQ(map.find(0)->value, 7);
  map.erase(map.find(0));
  EXPECT_EQ(map.find(0), nullptr);
}

TEST(FlatMapTest, AgreesWithTheStandardMap) {
  std::mt19937_64 random(5);
  FlatMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  for (int i = 0; i < 300'000; ++i) {
    // Addresses near each other, so that runs of neighbours form and break up.
    const std::uint64_t key = 0x7f0000000000 + (random() % 5000) * 64;
    if (random() % 2 == 0) {
      map.insert(key).first->value = static_cast<std::uint64_t>(i);
      model[key] = static_cast<std::uint64_t>(i);
    } else if (auto* entry = map.find(key); entry != nullptr) {
      map.erase(entry);
      ASSERT_EQ(model.erase(key), 1u);
    } else {
      ASSERT_FALSE(model.contains(key));
    }
  }
  ASSERT_EQ(map.size(), model.size());
  for (const auto& [key, value] : model) {
    ASSERT_NE(map.find(key), nullptr);
    ASSERT_EQ(map.find(key)->value, value);
  }
  std::size_t visited = 0;
  map.for_each([&](const auto& entry) { visited += model.contains(entry.key); });
  EXPECT_EQ(visited, model.size());
}

TEST(FlatMapTest, ClearEmpties) {
  FlatMap<int> map;
  for (std::uint64_t i = 0; i < 10'000; ++i) map.insert(i);
  map.clear();
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.find(5), nullptr);
}

}  // namespace
}  // namespace plumbline::reader
