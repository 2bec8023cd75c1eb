#include "reader/export/slices.hpp"

#include <gtest/gtest.h>

#include <string>

namespace plumbline::reader {
namespace {

std::vector<Slice> slices(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> times) {
  std::vector<Slice> all;
  for (const auto& [begin, end] : times) all.push_back({begin, end, 0, all.size()});
  return all;
}

std::string walked(const std::vector<Slice>& nested) {
  std::string text;
  walk(
      nested, [&](const Slice& slice) { text += "(" + std::to_string(slice.payload); },
      [&](const Slice& slice) { text += ")" + std::to_string(slice.payload); });
  return text;
}

TEST(SlicesTest, OuterComesBeforeInner) {
  auto all = slices({{5, 6}, {0, 10}, {0, 3}});
  sort_for_nesting(all);
  EXPECT_EQ(walked(all), "(1(2)2(0)0)1");
}

TEST(SlicesTest, DepthDecidesBetweenEqualTimes) {
  std::vector<Slice> all = {{0, 10, 1, 0}, {0, 10, 0, 1}};
  sort_for_nesting(all);
  EXPECT_EQ(walked(all), "(1(0)0)1");
}

TEST(SlicesTest, NeighboursDoNotNest) {
  auto all = slices({{0, 10}, {10, 20}});
  sort_for_nesting(all);
  EXPECT_EQ(walked(all), "(0)0(1)1");
}

TEST(SlicesTest, AMomentInsideASliceIsClosedBeforeTheNextBegins) {
  auto all = slices({{0, 10}, {5, 5}, {5, 8}});
  sort_for_nesting(all);
  const auto crossing = take_crossing(all);
  EXPECT_TRUE(crossing.empty());
  EXPECT_EQ(walked(all), "(0(2(1)1)2)0");
}

TEST(SlicesTest, CrossingSlicesAreTakenOut) {
  auto all = slices({{0, 10}, {5, 15}, {12, 14}});
  sort_for_nesting(all);
  const auto crossing = take_crossing(all);
  ASSERT_EQ(crossing.size(), 1U);
  EXPECT_EQ(crossing[0].payload, 1U);
  EXPECT_EQ(walked(all), "(0)0(2)2");
}

TEST(SlicesTest, OverlapsGetLanesOfTheirOwn) {
  const auto all = slices({{0, 10}, {1, 2}, {2, 12}, {10, 11}, {11, 13}});
  EXPECT_EQ(lanes_of(all), (std::vector<std::size_t>{0, 1, 1, 0, 0}));
}

TEST(SlicesTest, LanesNeverHoldTwoAtATime) {
  std::vector<Slice> all;
  for (std::uint64_t n = 0; n < 500; ++n) all.push_back({n * 7 % 101, n * 7 % 101 + n % 13, 0, 0});
  sort_for_nesting(all);
  const auto lanes = lanes_of(all);
  std::vector<std::uint64_t> busy_until(all.size(), 0);
  for (std::size_t at = 0; at < all.size(); ++at) {
    EXPECT_LE(busy_until[lanes[at]], all[at].begin_ns);
    busy_until[lanes[at]] = all[at].end_ns;
  }
}

}  // namespace
}  // namespace plumbline::reader
