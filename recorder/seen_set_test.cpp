#include "recorder/seen_set.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace plumbline::recorder {
namespace {

TEST(SeenSet, ContainsWhatWasInserted) {
  SeenSet<64> set;
  EXPECT_FALSE(set.contains(5));
  set.insert(5);
  set.insert(5 + 64);  // the same place
  EXPECT_TRUE(set.contains(5));
  EXPECT_TRUE(set.contains(5 + 64));
  EXPECT_FALSE(set.contains(5 + 128));
}

TEST(SeenSet, ForgetsWhenFullButNeverInvents) {
  SeenSet<64> set;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    hashes.push_back(random() | 1);
    set.insert(hashes.back());
    EXPECT_TRUE(set.contains(hashes.back()));
  }
  int known = 0;
  for (const std::uint64_t hash : hashes) known += set.contains(hash);
  EXPECT_LE(known, 64);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(set.contains(random() & ~std::uint64_t{1}));
}

TEST(SeenSet, ClearForgetsEverything) {
  SeenSet<64> set;
  set.insert(7);
  set.clear();
  EXPECT_FALSE(set.contains(7));
}

TEST(SeenSet, ThreadsInsertAtOnce) {
  auto set = std::make_unique<SeenSet<1 << 12>>();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t hash = (t * 1000 + i) * 0x9e3779b97f4a7c15u;
        set->insert(hash);
        EXPECT_TRUE(set->contains(hash));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace plumbline::recorder
