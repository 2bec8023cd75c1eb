#include "shim/nccl/collective_call.hpp"

#include <gtest/gtest.h>

#include "shim/nccl/nccl_thread.hpp"

namespace plumbline::shim::nccl {
namespace {

using recorder::Op;

constexpr std::int32_t kSize = 4;

Counts counts(Op op, std::int32_t rank, int root = -1) {
  return counts_of({.op = op, .count = 10, .peer = root}, rank, kSize);
}

void expect_counts(const Counts& counts, std::uint64_t in, std::uint64_t out) {
  EXPECT_EQ(counts.in, in);
  EXPECT_EQ(counts.out, out);
}

TEST(Counts, OfOperationsThatAreTheSameOnEveryRank) {
  expect_counts(counts(Op::kAllReduce, 2), 10, 10);
  expect_counts(counts(Op::kAllGather, 2), 10, 40);
  expect_counts(counts(Op::kReduceScatter, 2), 40, 10);
  expect_counts(counts(Op::kAllToAll, 2), 40, 40);
}

TEST(Counts, OfOperationsWithARoot) {
  expect_counts(counts(Op::kReduce, 2, 2), 10, 10);
  expect_counts(counts(Op::kReduce, 1, 2), 10, 0);
  expect_counts(counts(Op::kBroadcast, 2, 2), 10, 10);
  expect_counts(counts(Op::kBroadcast, 1, 2), 0, 10);
  expect_counts(counts(Op::kGather, 2, 2), 10, 40);
  expect_counts(counts(Op::kGather, 1, 2), 10, 0);
  expect_counts(counts(Op::kScatter, 2, 2), 40, 10);
  expect_counts(counts(Op::kScatter, 1, 2), 0, 10);
}

TEST(Counts, OfMessages) {
  expect_counts(counts(Op::kSend, 0, 1), 10, 0);
  expect_counts(counts(Op::kRecv, 0, 1), 0, 10);
}

TEST(Counts, OfAnUnknownCommunicatorAreThoseThatNeedNoSize) {
  const auto unknown = [](Op op) { return counts_of({.op = op, .count = 10}, -1, 0); };
  expect_counts(unknown(Op::kAllReduce), 10, 10);
  expect_counts(unknown(Op::kAllGather), 10, 0);
  expect_counts(unknown(Op::kReduceScatter), 0, 10);
}

TEST(GroupCalls, AreFollowedWhetherOrNotTheyAreRecorded) {
  begin_group(false, nullptr);
  begin_group(false, nullptr);
  EXPECT_EQ(nccl_thread.group_depth, 2u);
  EXPECT_FALSE(end_group(0, nullptr));
  EXPECT_TRUE(end_group(0, nullptr));
  EXPECT_FALSE(end_group(0, nullptr)) << "an end without a start";
  EXPECT_EQ(nccl_thread.group_depth, 0u);
}

TEST(GroupCalls, OnlyTheOutermostHasAnId) {
  begin_group(true, nullptr);
  const std::uint64_t id = nccl_thread.group_call;
  EXPECT_NE(id, 0u);
  begin_group(true, nullptr);
  EXPECT_EQ(nccl_thread.group_call, id);
  end_group(0, nullptr);
  EXPECT_EQ(nccl_thread.group_call, id);
  end_group(0, nullptr);
  EXPECT_EQ(nccl_thread.group_call, 0u);
}

}  // namespace
}  // namespace plumbline::shim::nccl
