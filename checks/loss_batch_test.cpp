#include "checks/loss_batch.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace plumbline::checks {
namespace {

// Keeps what a batch points to.
class Toy {
 public:
  // Of a rank: the supervised tokens of each of its losses, one a micro-batch, among 8 each; all have a loss of `each`.
  RankLosses rank(const std::vector<std::size_t>& supervised, double each,
                  std::optional<double> weight = std::nullopt) {
    RankLosses losses;
    for (const std::size_t tokens : supervised) {
      LossCall& call = calls_.emplace_back();
      call.rows = 8;
      call.supervised = tokens;
      call.sum = each * static_cast<double>(tokens);
      if (weight) call.weight = LossWeight{.sum = *weight * call.sum, .error = 0x1p-9};
      losses.calls.push_back(&call);
      losses.micro.push_back({{&call}});
      losses.backward_calls.push_back(&capture_);
      losses.backward.push_back(call.mean());
      losses.passes[static_cast<std::uint32_t>(losses.passes.size())] = {2, 4};
    }
    return losses;
  }

 private:
  std::deque<LossCall> calls_;
  Capture capture_;
};

TEST(LossBatchTest, WhatEachDenominatorMakes) {
  Toy toy;
  const auto batch = measured({{0, toy.rank({2, 4}, 1)}, {1, toy.rank({6, 8}, 3)}});
  ASSERT_TRUE(batch);
  EXPECT_DOUBLE_EQ(batch->sum, 48);
  EXPECT_DOUBLE_EQ(batch->tokens, 20);
  EXPECT_DOUBLE_EQ(batch->right, 2.4);
  EXPECT_DOUBLE_EQ(batch->with_padding, 1.5);
  EXPECT_DOUBLE_EQ(batch->mean_of_means, 2);
  EXPECT_DOUBLE_EQ(batch->mean_of_ranks, 2);
  EXPECT_DOUBLE_EQ(batch->used, 4) << "two micro-batches each";
  EXPECT_EQ(batch->micro, 2u);
  EXPECT_FALSE(batch->weighed);
  EXPECT_FALSE(batch->several);
  EXPECT_TRUE(batch->chunks_are_passes);
}

TEST(LossBatchTest, WeightsGoBeforeValues) {
  Toy toy;
  RankLosses losses = toy.rank({4, 4}, 2, 0.25);
  const auto batch = measured({{0, losses}});
  ASSERT_TRUE(batch && batch->weighed);
  EXPECT_DOUBLE_EQ(batch->used, 4);
  EXPECT_EQ(batch->value, 4);
  EXPECT_GT(batch->bound, 0x1p-9) << "a weight in a narrow type";
  losses.backward.clear();
  EXPECT_FALSE(measured({{0, losses}})->value);
  losses.hooked = true;
  EXPECT_TRUE(measured({{0, losses}}));
}

TEST(LossBatchTest, WhatCannotBeJudgedTogether) {
  Toy toy;
  EXPECT_FALSE(measured({}));
  EXPECT_FALSE(measured({{0, toy.rank({}, 1)}}));
  EXPECT_FALSE(measured({{0, toy.rank({2}, 1)}, {1, toy.rank({2, 2}, 1)}}));
  RankLosses unknown = toy.rank({2, 2}, 1);
  unknown.backward.pop_back();
  EXPECT_FALSE(measured({{0, unknown}}));
  RankLosses hooked = toy.rank({2, 2}, 1);
  hooked.hooked = true;
  EXPECT_FALSE(measured({{0, hooked}}));
}

TEST(LossBatchTest, ChunksThatAreRowsOrBatches) {
  Toy toy;
  RankLosses losses = toy.rank({4, 6}, 1);
  losses.micro = {{losses.calls}};
  losses.passes = {{0, {2, 8}}};
  auto batch = measured({{0, losses}});
  EXPECT_EQ(batch->chunks, 2u);
  EXPECT_TRUE(batch->chunks_are_rows);
  EXPECT_FALSE(batch->chunks_are_passes);
  losses.passes = {{0, {4, 4}}};
  EXPECT_FALSE(measured({{0, losses}})->chunks_are_rows);
  losses.passes = {{0, {2, 4}}, {1, {2, 4}}};
  EXPECT_TRUE(measured({{0, losses}})->chunks_are_passes);
}

TEST(LossBatchTest, TheLossesOfEachHead) {
  Toy toy;
  RankLosses losses = toy.rank({4, 6, 4, 6}, 1, 0.5);
  losses.passes = {{0, {2, 4}}, {1, {2, 4}}};
  EXPECT_TRUE(losses.several_losses());
  EXPECT_EQ(losses.losses_a_token(), 2u);
  const auto batch = measured({{0, losses}});
  ASSERT_TRUE(batch && batch->several);
  EXPECT_DOUBLE_EQ(only_nth_losses(*batch, 0).tokens, 8);
  EXPECT_DOUBLE_EQ(only_nth_losses(*batch, 1).tokens, 12);
  EXPECT_DOUBLE_EQ(only_nth_losses(*batch, 1).used, 6);
  losses.passes.clear();
  EXPECT_EQ(losses.losses_a_token(), 1u) << "as many as a micro-batch has";
}

}  // namespace
}  // namespace plumbline::checks
