#include "checks/collective_movement.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

using recorder::Op;

Block block(std::uint64_t hash) {
  Block made;
  made.count = 100;
  made.hash = hash;
  return made;
}

Block small(std::vector<std::uint8_t> bytes) {
  Block made;
  made.count = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) made.places.push_back(i);
  made.bytes = std::move(bytes);
  return made;
}

const std::vector<int> kRanks = {4, 5, 6};

TEST(CollectiveMovement, EachOperationHasItsSources) {
  EXPECT_EQ(source_of(Op::kBroadcast, 2, 1, 0).member, 2u);
  EXPECT_EQ(source_of(Op::kScatter, 2, 1, 0).block, 1u);
  EXPECT_EQ(source_of(Op::kAllGather, 0, 1, 2).member, 2u);
  EXPECT_EQ(source_of(Op::kGather, 0, 0, 2).block, 0u);
  EXPECT_EQ(source_of(Op::kAllToAllBase, 0, 1, 2).member, 2u);
  EXPECT_EQ(source_of(Op::kAllToAllBase, 0, 1, 2).block, 1u);
  EXPECT_EQ(source_of(Op::kRecv, 0, 1, 0).member, 0u);
}

TEST(CollectiveMovement, RightExchangesAreJudgedBlockByBlock) {
  CallBlocks blocks;
  blocks.in = {{block(1), block(2)}, {block(3), block(4)}};
  blocks.out = {{block(1), block(3)}, {block(2), block(4)}};
  const MovementJudgement judgement = judge_movement(Op::kAllToAll, -1, blocks, kRanks);
  EXPECT_EQ(judgement.judged, 4u);
  EXPECT_TRUE(judgement.wrong.empty());
}

TEST(CollectiveMovement, ABlockOfAnotherRankIsNamed) {
  CallBlocks blocks;
  blocks.in = {{block(1), block(2)}, {block(3), block(4)}};
  blocks.out = {{block(1), block(4)}, {}};
  const MovementJudgement judgement = judge_movement(Op::kAllToAll, -1, blocks, kRanks);
  ASSERT_EQ(judgement.wrong.size(), 1u);
  EXPECT_EQ(judgement.wrong[0].block, 1u);
  EXPECT_EQ(judgement.wrong[0].words, "is what rank 5 gave as its block 1");
}

TEST(CollectiveMovement, WhatWasNotWrittenIsTold) {
  CallBlocks blocks;
  blocks.in = {{block(1)}, {}};
  blocks.out = {{block(1)}, {block(9)}};
  blocks.out[1][0].untouched = true;
  const MovementJudgement judgement = judge_movement(Op::kBroadcast, 0, blocks, kRanks);
  ASSERT_EQ(judgement.wrong.size(), 1u);
  EXPECT_NE(judgement.wrong[0].words.find("was not written"), std::string::npos);
}

TEST(CollectiveMovement, OfSmallBlocksTheExtentIsTold) {
  CallBlocks blocks;
  blocks.in = {{small({1, 2, 3})}, {small({4, 5, 6})}};
  blocks.out = {{small({1, 2, 3}), small({4, 7, 7})}, {}};
  const MovementJudgement judgement = judge_movement(Op::kAllGather, -1, blocks, kRanks);
  ASSERT_EQ(judgement.wrong.size(), 1u);
  EXPECT_EQ(judgement.wrong[0].words, "is none of the blocks that were given: 2 of 3 elements differ, first element 1");
}

TEST(CollectiveMovement, AMissingSideIsNotJudged) {
  CallBlocks blocks;
  blocks.in = {{}, {block(4)}};
  blocks.out = {{block(1), block(4)}, {}};
  const MovementJudgement judgement = judge_movement(Op::kAllGather, -1, blocks, kRanks);
  EXPECT_EQ(judgement.unjudged, 1u);
  EXPECT_EQ(judgement.judged, 1u);
}

TEST(Blocks, CompareByHashOrByTheSamePlaces) {
  EXPECT_EQ(compare(block(1), block(1)), Same::kYes);
  EXPECT_EQ(compare(block(1), block(2)), Same::kNo);
  EXPECT_EQ(compare(small({1}), small({1})), Same::kYes);
  EXPECT_EQ(compare(small({1}), small({2})), Same::kNo);
  EXPECT_EQ(compare(small({1}), small({1, 2})), Same::kUnknown);
  EXPECT_EQ(compare(block(1), Block{100, {}, {}, {}, false}), Same::kUnknown);
  EXPECT_EQ(compare(Block{}, Block{}), Same::kYes);
}

}  // namespace
}  // namespace plumbline::checks
