#include "reader/match.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

class MatchTest : public ::testing::Test {
 protected:
  recorder::TraceBuilder& rank(int rank, int attempt = 0) {
    auto& builder = builders_[{attempt, rank}];
    if (!builder) {
      recorder::TraceBuilderOptions options;
      options.pid = static_cast<std::uint32_t>(100 + rank + 1000 * attempt);
      options.rank = rank;
      options.world_size = 2;
      options.attempt = attempt;
      builder = std::make_unique<recorder::TraceBuilder>(directory_.path(), options);
    }
    return *builder;
  }
  // A call that completes, in the group of both ranks.
  void call(int who, std::uint64_t seq, Op op = Op::kAllReduce, std::int32_t peer = -1, std::int32_t tag = 0,
            int attempt = 0) {
    recorder::TraceBuilder& trace = rank(who, attempt);
    const std::uint64_t group = trace.group("0", "default_pg", "gloo", "", who, 2);
    const std::uint64_t id = ++id_;
    trace.add(
        0,
        testing::collective(
            {.time_ns = 1000 * id, .id = id, .group = group, .seq = seq, .op = op, .peer = peer, .tensor_tag = tag}));
    trace.add(0, testing::end_of(1000 * id + 500, id));
  }
  std::vector<MatchedCollective> match(const MatchOptions& options = {}) {
    for (auto& [key, builder] : builders_) builder->finish({});
    const reader::Run run = testing::open_run(directory_.path());
    std::vector<MatchedCollective> matches;
    match_collectives(run, options, [&](const MatchedCollective& m) {
      matches.push_back(m);
      return true;
    });
    return matches;
  }
  testing::TempDir directory_;
  std::map<std::pair<int, int>, std::unique_ptr<recorder::TraceBuilder>> builders_;
  std::uint64_t id_ = 0;
};

TEST_F(MatchTest, RanksMeetByGroupAndNumber) {
  for (std::uint64_t seq = 0; seq < 3; ++seq)
    for (const int who : {1, 0}) call(who, seq);
  const auto matches = match();
  ASSERT_EQ(matches.size(), 3u);
  for (std::uint64_t seq = 0; seq < 3; ++seq) {
    EXPECT_EQ(matches[seq].seq, seq);
    EXPECT_EQ(matches[seq].group_name, "0");
    EXPECT_EQ(matches[seq].group_description, "default_pg");
    EXPECT_TRUE(matches[seq].complete());
    ASSERT_EQ(matches[seq].members.size(), 2u);
    EXPECT_EQ(matches[seq].members[0].rank, 0);
    EXPECT_EQ(matches[seq].members[1].collective.seq, seq);
  }
}

TEST_F(MatchTest, ARankThatMadeFewerCallsIsMissing) {
  for (std::uint64_t seq = 0; seq < 3; ++seq) call(0, seq);
  for (std::uint64_t seq = 0; seq < 2; ++seq) call(1, seq);
  const auto matches = match();
  ASSERT_EQ(matches.size(), 3u);
  EXPECT_FALSE(matches[2].complete());
  EXPECT_TRUE(matches[2].members[0].present);
  EXPECT_FALSE(matches[2].members[1].present);
  EXPECT_TRUE(matches[2].members[1].has_trace);
}

TEST_F(MatchTest, ARankWithoutATraceIsNotMissing) {
  call(0, 0);
  const auto matches = match();
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_FALSE(matches[0].members[1].has_trace);
  EXPECT_TRUE(matches[0].complete());
}

TEST_F(MatchTest, DifferentCallsOfOneNumberMeet) {
  call(0, 0, Op::kAllReduce);
  call(1, 0, Op::kBroadcast, 0);
  const auto matches = match();
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].members[0].collective.op, Op::kAllReduce);
  EXPECT_EQ(matches[0].members[1].collective.op, Op::kBroadcast);
}

TEST_F(MatchTest, SendsMeetReceivesByPairTagAndOrder) {
  // Rank 0 sends twice with tag 5 and once with tag 6; rank 1 receives the other tag first.
  call(0, 0, Op::kSend, 1, 5);
  call(0, 1, Op::kSend, 1, 6);
  call(0, 2, Op::kSend, 1, 5);
  call(1, 0, Op::kRecv, 0, 6);
  call(1, 1, Op::kRecv, 0, 5);
  call(1, 2, Op::kRecv, 0, 5);
  call(1, 3, Op::kSend, 0, 5);
  const auto matches = match();
  ASSERT_EQ(matches.size(), 4u);
  int complete = 0;
  for (const MatchedCollective& m : matches) {
    EXPECT_TRUE(m.point_to_point);
    ASSERT_EQ(m.members.size(), 2u);
    complete += m.complete();
    if (!m.complete()) continue;
    EXPECT_EQ(m.members[0].collective.op, Op::kSend);
    EXPECT_EQ(m.members[1].collective.op, Op::kRecv);
    EXPECT_EQ(m.members[0].collective.tensor_tag, m.members[1].collective.tensor_tag);
  }
  EXPECT_EQ(complete, 3);
  EXPECT_EQ(matches.back().members[0].rank, 1) << "the send that nobody received";
}

TEST_F(MatchTest, AttemptsAreNotMixed) {
  for (const int who : {0, 1}) {
    call(who, 0, Op::kAllReduce, -1, 0, 0);
    call(who, 0, Op::kBarrier, -1, 0, 1);
  }
  const auto last = match();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].members[0].collective.op, Op::kBarrier);
}

TEST_F(MatchTest, AnEarlierAttemptOnRequest) {
  for (const int who : {0, 1}) {
    call(who, 0, Op::kAllReduce, -1, 0, 0);
    call(who, 0, Op::kBarrier, -1, 0, 1);
  }
  const auto first = match({.attempt = 0});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].members[0].collective.op, Op::kAllReduce);
}

TEST_F(MatchTest, MemoryIsBounded) {
  for (std::uint64_t seq = 0; seq < 100; ++seq) call(0, seq);
  rank(1).add(0, testing::sample(1, Counter::kResidentBytes, 1));
  const auto matches = match({.max_open = 10});
  EXPECT_EQ(matches.size(), 100u) << "given out incomplete, but given out";
}

TEST_F(MatchTest, AVisitorMayStop) {
  for (std::uint64_t seq = 0; seq < 5; ++seq)
    for (const int who : {0, 1}) call(who, seq);
  for (auto& [key, builder] : builders_) builder->finish({});
  const reader::Run run = testing::open_run(directory_.path());
  int seen = 0;
  match_collectives(run, {}, [&](const MatchedCollective&) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace plumbline::reader
