#include "reader/ranges.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::range_begin;
using testing::range_end;

class RangesTest : public ::testing::Test {
 protected:
  std::vector<Range> read(const Query& window = {}) {
    builder_.finish({});
    const Trace trace = testing::open_trace(builder_.path());
    std::vector<Range> ranges;
    read_ranges(trace, window, [&](const Range& range) {
      ranges.push_back(range);
      return true;
    });
    return ranges;
  }
  testing::TempDir directory_;
  recorder::TraceBuilder builder_{directory_.path()};
};

TEST_F(RangesTest, NestedRangesEndInsideOut) {
  builder_.add(0, range_begin(100, 1, 11, 0));
  builder_.add(0, range_begin(110, 2, 12, 1));
  builder_.add(0, range_end(120, 2, 12, 1));
  builder_.add(0, range_end(130, 1, 11, 0));
  const auto ranges = read();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].handle, 2u);
  EXPECT_EQ(ranges[0].depth, 1u);
  EXPECT_EQ(ranges[0].scope, 7u);
  EXPECT_EQ(ranges[1].begin_ns, 100u);
  EXPECT_EQ(ranges[1].end_ns, 130u);
}

TEST_F(RangesTest, AnEndOnAnotherThreadMayBeReadFirst) {
  builder_.add(1, range_end(130, 1, 11));
  builder_.flush();
  builder_.add(0, range_begin(100, 1, 11));
  const auto ranges = read();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].ring, 0u) << "the thread that began it";
  EXPECT_EQ(ranges[0].begin_ns, 100u);
  EXPECT_EQ(ranges[0].end_ns, 130u);
}

TEST_F(RangesTest, OpenRangesComeLast) {
  builder_.add(0, range_begin(100, 1, 11));
  builder_.add(0, range_begin(110, 2, 12));
  builder_.add(0, range_end(120, 2, 12));
  builder_.add(0, range_end(125, 3, 13));
  const auto ranges = read();
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].handle, 2u);
  EXPECT_EQ(ranges[1].handle, 1u);
  EXPECT_EQ(ranges[1].end_ns, 0u);
  EXPECT_EQ(ranges[2].begin_ns, 0u) << "its begin was lost";
}

TEST_F(RangesTest, RangesThatReachIntoTheWindow) {
  builder_.add(0, range_begin(100, 1, 11));
  builder_.add(0, range_end(200, 1, 11));
  builder_.add(0, range_begin(300, 2, 11));
  builder_.add(0, range_end(400, 2, 11));
  const auto ranges = read({.from_ns = 150, .to_ns = 250});
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].handle, 1u);
}

}  // namespace
}  // namespace plumbline::reader
