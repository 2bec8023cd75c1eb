#include "checks/hang_words.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

Party party(std::int32_t rank, Standing standing, const reader::Collective* call = nullptr) {
  return {rank, standing, static_cast<std::size_t>(rank), call};
}

FrontMember member(std::int32_t rank, std::int64_t enqueued, std::int64_t completed) {
  FrontMember one;
  one.rank = rank;
  one.has_trace = true;
  one.enqueued = enqueued;
  one.completed = completed;
  return one;
}

TEST(HangWordsTest, VerbsFitTheNumberOfRanks) {
  EXPECT_EQ(with_verb({3}, "waits", "wait"), "rank 3 waits");
  EXPECT_EQ(with_verb({0, 1, 2}, "waits", "wait"), "ranks 0-2 wait");
}

TEST(HangWordsTest, AnOperationIsNamedByACallOfItElseByItsNumber) {
  reader::Collective call;
  call.op = reader::Op::kAllReduce;
  call.seq = 3;
  OpenOp op;
  op.seq = 3;
  op.parties = {party(0, Standing::kAbsent), party(1, Standing::kWaiting, &call)};
  EXPECT_EQ(op_name(op), "all_reduce #3");
  op.parties[1].call = nullptr;
  EXPECT_EQ(op_name(op), "collective #3");
  op.point_to_point = true;
  EXPECT_EQ(op_name(op), "message #3 from rank 0 to rank 1");
}

TEST(HangWordsTest, WhatBecameOfTheOthersLeavesTheGuiltyOut) {
  OpenOp op;
  op.parties = {party(0, Standing::kWaiting), party(1, Standing::kWaiting), party(2, Standing::kAbsent)};
  EXPECT_EQ(others_clause(op, {2}), "; ranks 0,1 wait in it");
  EXPECT_EQ(others_clause(op, {1, 2}), "; rank 0 waits in it");
  op.parties[0].standing = Standing::kFailed;
  EXPECT_EQ(others_clause(op, {2}), "; rank 1 waits in it; it failed on rank 0");
}

TEST(HangWordsTest, ThoseThatFinishedAreToldWhereNobodyWaits) {
  OpenOp op;
  op.parties = {party(0, Standing::kFinished), party(1, Standing::kAbsent)};
  EXPECT_EQ(others_clause(op, {1}), "; rank 0 finished without it");
}

TEST(HangWordsTest, AGroupIsToldWithItsRanks) {
  GroupFront front;
  front.name = "tensor";
  front.members = {member(2, 0, 0), member(3, 0, 0)};
  EXPECT_EQ(front_place(front), "tensor (ranks 2,3)");
}

TEST(HangWordsTest, TheWavefrontJoinsRanksThatStandAtTheSamePlace) {
  GroupFront front;
  front.name = "default_pg";
  front.members = {member(0, 3, 2), member(1, 2, 2), member(2, 3, 2), member(3, -1, -1), FrontMember{}};
  front.members[4].rank = 4;
  EXPECT_EQ(wavefront_line(front),
            "wavefront of default_pg: rank 4 left no trace; rank 3 called nothing; rank 1 called and finished #2; "
            "ranks 0,2 called #3, finished #2");
}

TEST(HangWordsTest, MorePlacesThanALineHoldsAreCounted) {
  GroupFront front;
  front.name = "default_pg";
  for (std::int32_t rank = 0; rank < 9; ++rank) front.members.push_back(member(rank, rank, rank));
  EXPECT_NE(wavefront_line(front).find("; and 5 other places"), std::string::npos) << wavefront_line(front);
}

}  // namespace
}  // namespace plumbline::checks
