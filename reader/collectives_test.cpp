#include "reader/collectives.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::collective;
using testing::end_of;
using testing::mark;

class CollectivesTest : public ::testing::Test {
 protected:
  std::vector<Collective> read(const CollectiveQuery& query = {}) {
    builder_.finish({});
    const Trace trace = testing::open_trace(builder_.path());
    std::vector<Collective> collectives;
    read_collectives(trace, query, [&](const Collective& c) {
      collectives.push_back(c);
      return true;
    });
    return collectives;
  }
  testing::TempDir directory_;
  recorder::TraceBuilder builder_{directory_.path()};
};

TEST_F(CollectivesTest, ACallIsJoinedWithItsMarks) {
  builder_.add(0, collective({.time_ns = 100, .id = 1, .group = 7, .seq = 3, .op = Op::kBroadcast, .peer = 2}));
  builder_.add(1, mark(110, Kind::kCollectiveStart, 1));
  builder_.add(0, mark(120, Kind::kWait, 1));
  builder_.add(1, end_of(150, 1));
  builder_.add(0, mark(155, Kind::kWaitEnd, 1));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 1u);
  const Collective& call = calls[0];
  EXPECT_EQ(call.group, 7u);
  EXPECT_EQ(call.seq, 3u);
  EXPECT_EQ(call.op, Op::kBroadcast);
  EXPECT_EQ(call.reduce_op, ReduceOp::kSum);
  EXPECT_EQ(call.dtype, Dtype::kFloat32);
  EXPECT_EQ(call.peer, 2);
  EXPECT_EQ(call.count_in, 1000u);
  EXPECT_EQ(call.enqueue_ns, 100u);
  EXPECT_EQ(call.start_ns, 110u);
  EXPECT_EQ(call.wait_ns, 120u);
  EXPECT_EQ(call.end_ns, 150u);
  EXPECT_EQ(call.wait_end_ns, 155u);
  EXPECT_EQ(call.outcome, Outcome::kCompleted);
  EXPECT_EQ(call.last_seen_ns(), 155u);
}

TEST_F(CollectivesTest, APendingCallComesLast) {
  builder_.add(0, collective({.time_ns = 100, .id = 1}));
  builder_.add(0, collective({.time_ns = 200, .id = 2}));
  builder_.add(0, end_of(250, 2));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].id, 2u);
  EXPECT_EQ(calls[1].id, 1u);
  EXPECT_EQ(calls[1].outcome, Outcome::kPending);
  EXPECT_FALSE(calls[1].settled());
}

TEST_F(CollectivesTest, MarksMayComeInAFrameBeforeTheRecord) {
  builder_.add(1, mark(110, Kind::kCollectiveStart, 1));
  builder_.add(1, end_of(120, 1));
  builder_.flush();
  builder_.add(0, collective({.time_ns = 100, .id = 1}));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].start_ns, 110u);
  EXPECT_EQ(calls[0].end_ns, 120u);
  EXPECT_EQ(calls[0].outcome, Outcome::kCompleted);
}

TEST_F(CollectivesTest, AWaitInTheFrameAfterTheEndIsStillSeen) {
  builder_.add(0, collective({.time_ns = 100, .id = 1}));
  builder_.add(1, end_of(120, 1));
  builder_.flush();
  builder_.add(0, mark(130, Kind::kWait, 1));
  builder_.add(0, mark(131, Kind::kWaitEnd, 1));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].wait_ns, 130u);
}

TEST_F(CollectivesTest, AReturnSettlesACallWithoutAnEnd) {
  builder_.add(0, collective({.time_ns = 100, .id = 1, .layer = Layer::kNccl}));
  builder_.add(0, mark(105, Kind::kCollectiveReturn, 1, Outcome::kRaised, 5));
  builder_.add(0, collective({.time_ns = 200, .id = 2, .layer = Layer::kNccl}));
  builder_.add(0, mark(205, Kind::kCollectiveReturn, 2, Outcome::kCaptured));
  builder_.add(0, collective({.time_ns = 300, .id = 3, .layer = Layer::kNccl}));
  builder_.add(0, mark(305, Kind::kCollectiveReturn, 3));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].outcome, Outcome::kRaised);
  EXPECT_EQ(calls[0].code, 5);
  EXPECT_EQ(calls[1].outcome, Outcome::kCaptured);
  EXPECT_EQ(calls[2].outcome, Outcome::kPending);
  EXPECT_TRUE(calls[2].settled());
}

TEST_F(CollectivesTest, ACallIsGivenOnceThoughItReturnedAndEnded) {
  builder_.add(0, collective({.time_ns = 100, .id = 1}));
  builder_.add(0, mark(105, Kind::kCollectiveReturn, 1));
  builder_.flush();
  builder_.add(1, end_of(120, 1));
  const auto calls = read();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].outcome, Outcome::kCompleted);
}

TEST_F(CollectivesTest, OnlyCallsOfTheWindow) {
  for (std::uint64_t i = 1; i <= 5; ++i) {
    builder_.add(0, collective({.time_ns = i * 100, .id = i}));
    builder_.add(0, end_of(i * 100 + 50, i));
    builder_.flush();
  }
  const auto calls = read({.from_ns = 200, .to_ns = 400});
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].id, 2u);
  EXPECT_EQ(calls[2].id, 4u);
}

TEST_F(CollectivesTest, StepsOnlyWhenAskedFor) {
  builder_.add(0, collective({.time_ns = 100, .id = 1}));
  EXPECT_EQ(read({.steps = false}).at(0).step, -1);
}

TEST_F(CollectivesTest, NegativeNumbersKeepTheirSign) {
  builder_.add(0, collective({.time_ns = 100, .id = 1, .peer = -1, .tensor_tag = -7}));
  const auto calls = read();
  EXPECT_EQ(calls.at(0).peer, -1);
  EXPECT_EQ(calls.at(0).tensor_tag, -7);
}

TEST_F(CollectivesTest, AVisitorMayStop) {
  for (std::uint64_t i = 1; i <= 5; ++i) {
    builder_.add(0, collective({.time_ns = i * 100, .id = i}));
    builder_.add(0, end_of(i * 100 + 50, i));
  }
  builder_.finish({});
  const Trace trace = testing::open_trace(builder_.path());
  int seen = 0;
  read_collectives(trace, {}, [&](const Collective&) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

TEST(CollectiveJoinTest, OrphansAreCountedAndForgotten) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  for (std::uint64_t i = 1; i <= 4; ++i) {
    builder.add(0, end_of(i * 100, i));
    builder.add(0, mark(i * 100 + 1, Kind::kWait, 100 + i));
    builder.flush();
  }
  builder.finish({});
  const Trace trace = testing::open_trace(builder.path());
  CollectiveJoin join;
  int given = 0;
  const auto count = [&](const Collective&) { ++given; };
  trace.read({}, [&](const FrameView& frame) {
    join.add(frame, count);
    return true;
  });
  join.finish({}, count);
  EXPECT_EQ(given, 0);
  EXPECT_EQ(join.orphan_marks(), 4u) << "late waits are no loss";
}

TEST(CollectiveJoinTest, InFlightCallsAreMarked) {
  testing::TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, collective({.time_ns = 100, .id = 1}));
  builder.add(0, collective({.time_ns = 200, .id = 2}));
  builder.finish({});
  const Trace trace = testing::open_trace(builder.path());
  CollectiveJoin join;
  std::vector<Collective> calls;
  const auto keep = [&](const Collective& c) { calls.push_back(c); };
  trace.read({}, [&](const FrameView& frame) {
    join.add(frame, keep);
    return true;
  });
  InFlightCall inside;
  inside.what = Kind::kWait;
  inside.time_ns = 300;
  inside.id_or_size = 2;
  join.finish({inside}, keep);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_FALSE(calls[0].in_flight);
  EXPECT_TRUE(calls[1].in_flight);
  EXPECT_EQ(calls[1].wait_ns, 300u);
}

}  // namespace
}  // namespace plumbline::reader
