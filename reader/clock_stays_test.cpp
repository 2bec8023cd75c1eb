#include "reader/clock_stays.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

Collective call(std::uint64_t group, std::uint64_t seq, Op op = Op::kAllReduce) {
  Collective one;
  one.group = group;
  one.seq = seq;
  one.op = op;
  one.outcome = Outcome::kCompleted;
  one.enqueue_ns = 100 * seq + 10;
  one.start_ns = 100 * seq + 20;
  one.end_ns = 100 * seq + 90;
  return one;
}

class ClockStaysTest : public ::testing::Test {
 protected:
  ClockStaysTest() {
    testing::TraceBuilder builder(directory_.path());
    pair_ = builder.group("0", "default_pg", "gloo", "0,1", 0, 2);
    alone_ = builder.group("1", "", "gloo", "0", 0, 1);
    builder.finish({});
    trace_.emplace(testing::open_trace(builder.path()));
  }
  testing::TempDir directory_;
  std::uint64_t pair_ = 0;
  std::uint64_t alone_ = 0;
  std::optional<Trace> trace_;
};

TEST_F(ClockStaysTest, AStayIsFromTheStartToTheEnd) {
  StayKeeper keeper;
  keeper.add(call(pair_, 3));
  keeper.add(call(pair_, 2));
  const auto groups = keeper.finish(*trace_);
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].stays.size(), 2u);
  EXPECT_EQ(groups[0].stays[0].seq, 2u);
  EXPECT_EQ(groups[0].stays[1].enter_ns, 320u);
  EXPECT_EQ(groups[0].stays[1].leave_ns, 390u);
}

TEST_F(ClockStaysTest, OnlyWhatTiesRanksTogetherCounts) {
  StayKeeper keeper;
  keeper.add(call(pair_, 0, Op::kBroadcast));  // a root may leave before the others enter
  keeper.add(call(alone_, 0));
  keeper.add(call(0, 0));
  keeper.add(call(pair_ + 1, 0));  // a group that the trace does not define
  Collective failed = call(pair_, 1);
  failed.outcome = Outcome::kFailed;
  keeper.add(failed);
  for (const GroupStays& group : keeper.finish(*trace_)) EXPECT_TRUE(group.stays.empty());
}

TEST_F(ClockStaysTest, ThinnedOutStaysStillMeet) {
  StayKeeper few(64);
  StayKeeper fewer(16);
  for (std::uint64_t seq = 0; seq < 1000; ++seq) {
    few.add(call(pair_, seq));
    fewer.add(call(pair_, seq));
  }
  const auto a = few.finish(*trace_);
  const auto b = fewer.finish(*trace_);
  EXPECT_LE(a[0].stays.size(), 64u);
  EXPECT_GE(a[0].stays.size(), 32u);
  EXPECT_EQ(b[0].stride % a[0].stride, 0u);
  for (const Stay& stay : b[0].stays) EXPECT_EQ(stay.seq % b[0].stride, 0u);
}

TEST(StayKeeperTest, LargeRunsKeepFewerOfEach) {
  EXPECT_EQ(StayKeeper::most_in(1), StayKeeper::kMost);
  EXPECT_EQ(StayKeeper::most_in(512), 512u);
  EXPECT_EQ(StayKeeper::most_in(1'000'000), 64u);
}

}  // namespace
}  // namespace plumbline::reader
