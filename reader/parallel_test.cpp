#include "reader/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace plumbline::reader {
namespace {

TEST(ParallelTest, EachIndexOnce) {
  for (const unsigned threads : {0u, 1u, 3u, 64u}) {
    std::vector<std::atomic<int>> seen(100);
    parallel_for(seen.size(), threads, [&](std::size_t i) { ++seen[i]; });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelTest, NothingToDo) {
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace plumbline::reader
