#include "reader/export/counter_thinner.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace plumbline::reader {
namespace {

using Points = std::vector<std::pair<std::uint64_t, std::int64_t>>;

Points thinned(std::uint64_t interval, const Points& points) {
  Points out;
  CounterThinner thinner(interval, [&](std::uint64_t time, std::int64_t value) { out.emplace_back(time, value); });
  for (const auto& [time, value] : points) thinner.add(time, value);
  thinner.finish();
  return out;
}

TEST(CounterThinnerTest, KeepsThePeakAndTheLastOfEachInterval) {
  EXPECT_EQ(thinned(100, {{0, 1}, {10, 9}, {20, 2}, {90, 3}, {100, 4}, {101, 5}}),
            (Points{{10, 9}, {90, 3}, {101, 5}}));
}

TEST(CounterThinnerTest, SparsePointsAllStay) {
  const Points points = {{0, 1}, {1000, 2}, {2000, 1}};
  EXPECT_EQ(thinned(100, points), points);
}

TEST(CounterThinnerTest, NothingInNothingOut) { EXPECT_TRUE(thinned(100, {}).empty()); }

TEST(CounterThinnerTest, TimesNeverGoBack) {
  const Points out = thinned(10, {{100, 1}, {95, 2}, {150, 3}, {120, 4}});
  for (std::size_t at = 1; at < out.size(); ++at) EXPECT_GE(out[at].first, out[at - 1].first);
  EXPECT_EQ(out.back().second, 4);
}

}  // namespace
}  // namespace plumbline::reader
