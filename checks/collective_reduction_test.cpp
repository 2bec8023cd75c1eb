#include "checks/collective_reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "checks/collective_trial.hpp"
#include "checks/element_values.hpp"
#include "checks/testing/capture_job.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;
using recorder::Op;
using recorder::ReduceOp;
using testing::bytes_of;

Block floats(const std::vector<float>& values, const std::vector<std::uint64_t>& places = {}) {
  Block block;
  block.count = places.empty() ? values.size() : 1000;
  block.places = places;
  for (std::size_t i = 0; places.empty() && i < values.size(); ++i) block.places.push_back(i);
  block.bytes = bytes_of(values);
  return block;
}

CapturedCall call_of(Op op, ReduceOp reduce, std::size_t members) {
  CapturedCall call;
  call.op = op;
  call.reduce = reduce;
  call.members.resize(members);
  for (std::size_t i = 0; i < members; ++i) call.members[i].rank = static_cast<int>(i) + 10;
  return call;
}

// Three ranks that all get the same.
struct Sum {
  CapturedCall call = call_of(Op::kAllReduce, ReduceOp::kSum, 3);
  CallBlocks blocks{Dtype::kFloat32, {{floats({1, 2})}, {floats({3, 5})}, {floats({7, 11})}}, {}};

  explicit Sum(const std::vector<float>& got) { blocks.out.assign(3, {floats(got)}); }
  std::string cause() const {
    const ReductionJudgement judgement = judge_reduction(call, blocks);
    EXPECT_EQ(judgement.wrong.size(), 3u);
    return judgement.wrong.empty() ? "" : judgement.wrong.front().cause;
  }
};

TEST(CollectiveReduction, RightResultsAreJudged) {
  const Sum sum({11, 18});
  const ReductionJudgement judgement = judge_reduction(sum.call, sum.blocks);
  EXPECT_EQ(judgement.judged, 3u);
  EXPECT_TRUE(judgement.wrong.empty());
  EXPECT_FALSE(judgement.blind);
  EXPECT_TRUE(sees_wrong_element(sum.call, sum.blocks));
}

TEST(CollectiveReduction, CausesThatExplainAllElements) {
  EXPECT_EQ(Sum({7, 11}).cause(), "is the maximum of what the ranks gave");
  EXPECT_EQ(Sum({11.0F / 3, 6}).cause(), "is the mean of what the ranks gave");
  EXPECT_EQ(Sum({21, 110}).cause(), "is the product of what the ranks gave");
  EXPECT_EQ(Sum({3, 5}).cause(), "is what rank 11 gave, not reduced");
  EXPECT_EQ(Sum({8, 13}).cause(), "lacks what rank 11 gave");
  EXPECT_EQ(Sum({12, 20}).cause(), "has what rank 10 gave twice in it");
  EXPECT_EQ(Sum({33, 54}).cause(), "is 3 times the sum: it was reduced twice");
  EXPECT_EQ(Sum({11, 19}).cause(), "");
}

TEST(CollectiveReduction, SumsInANarrowerTypeAreNamed) {
  CapturedCall call = call_of(Op::kAllReduce, ReduceOp::kSum, 2);
  CallBlocks blocks{Dtype::kFloat32, {{floats({1.001F, 0.333F})}, {floats({2.002F, 0.2F})}}, {}};
  const auto rounded = [](double x) { return static_cast<float>(rounded_to(Dtype::kBfloat16, x)); };
  blocks.out.assign(2, {floats({rounded(3.003), rounded(0.533)})});
  EXPECT_EQ(judge_reduction(call, blocks).wrong.at(0).cause, "was added up in bfloat16");
}

TEST(CollectiveReduction, EachRankGetsItsPartOfAScatter) {
  CapturedCall call = call_of(Op::kReduceScatterBase, ReduceOp::kSum, 2);
  CallBlocks blocks{Dtype::kFloat32, {{floats({1}), floats({2})}, {floats({10}), floats({20})}}, {}};
  blocks.out = {{floats({11})}, {floats({22})}};
  EXPECT_EQ(judge_reduction(call, blocks).judged, 2u);
  EXPECT_TRUE(judge_reduction(call, blocks).wrong.empty());
  blocks.out[1] = {floats({11})};
  const ReductionJudgement judgement = judge_reduction(call, blocks);
  ASSERT_EQ(judgement.wrong.size(), 1u);
  EXPECT_EQ(judgement.wrong[0].member, 1u);
  EXPECT_EQ(judgement.wrong[0].cause, "is the part of rank 10");
}

TEST(CollectiveReduction, PlacesThatAllRanksHaveAreCompared) {
  CapturedCall call = call_of(Op::kAllReduce, ReduceOp::kSum, 2);
  CallBlocks blocks{Dtype::kFloat32, {{floats({1, 2}, {3, 900})}, {floats({10, 20}, {3, 900})}}, {}};
  blocks.out = {{floats({11, 22}, {3, 900})}, {floats({11, 99}, {3, 900})}};
  const ReductionJudgement judgement = judge_reduction(call, blocks);
  ASSERT_EQ(judgement.wrong.size(), 1u);
  EXPECT_EQ(judgement.wrong[0].place, 900u);
  EXPECT_EQ(judgement.wrong[0].differ, 1u);
  EXPECT_EQ(judgement.wrong[0].given, (std::vector<std::string>{"2", "20"}));
}

TEST(CollectiveReduction, AMissingPartLeavesItOpen) {
  Sum sum({1, 1});
  sum.blocks.in[1].clear();
  const ReductionJudgement judgement = judge_reduction(sum.call, sum.blocks);
  EXPECT_EQ(judgement.judged, 0u);
  EXPECT_EQ(judgement.unjudged, 3u);
}

TEST(CollectiveReduction, OnlyTheRootOfAReduceGetsAnything) {
  Sum sum({11, 18});
  sum.call.op = Op::kReduce;
  sum.blocks.out[0].clear();
  sum.blocks.out[2].clear();
  EXPECT_EQ(judge_reduction(sum.call, sum.blocks).judged, 1u);
}

TEST(CollectiveReduction, OtherBitsOfTheMinorityShow) {
  Sum sum({11, 18});
  for (std::size_t i = 0; i < 3; ++i) sum.blocks.out[i][0].hash = i == 1 ? 4 : 9;
  EXPECT_EQ(judge_reduction(sum.call, sum.blocks).apart, std::vector<std::size_t>{1});
}

TEST(CollectiveReduction, ManyRanksInFewDigitsAreBlind) {
  const std::size_t ranks = 300;
  CapturedCall call = call_of(Op::kAllReduce, ReduceOp::kSum, ranks);
  CallBlocks blocks;
  blocks.dtype = Dtype::kBfloat16;
  Block one;
  one.count = 1;
  one.places = {0};
  one.bytes = {0x80, 0x3f};
  blocks.in.assign(ranks, {one});
  blocks.out.resize(ranks);
  Block got = one;
  got.bytes = {0x96, 0x43};  // 300
  blocks.out[0] = {got};
  const ReductionJudgement judgement = judge_reduction(call, blocks);
  EXPECT_TRUE(judgement.blind);
  EXPECT_TRUE(judgement.wrong.empty());
}

}  // namespace
}  // namespace plumbline::checks
