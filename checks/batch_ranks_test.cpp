#include "checks/batch_ranks.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

CapturedStep step_of(int rank, std::vector<int> batch_ranks) {
  CapturedStep step;
  step.rank = rank;
  step.batch_ranks = std::move(batch_ranks);
  return step;
}

using Sets = std::vector<std::vector<int>>;

TEST(BatchRanksTest, OneGroup) {
  EXPECT_EQ(batch_sets({step_of(0, {0, 1}), step_of(1, {0, 1})}), (Sets{{0, 1}}));
  EXPECT_EQ(batch_sets({step_of(0, {}), step_of(1, {1})}), Sets{}) << "nobody says that they share a batch";
  EXPECT_EQ(batch_sets({}), Sets{});
}

TEST(BatchRanksTest, ASetForEachRankOfTensorParallelism) {
  EXPECT_EQ(batch_sets({step_of(0, {0, 2}), step_of(1, {1, 3}), step_of(2, {0, 2}), step_of(3, {1, 3})}),
            (Sets{{0, 2}, {1, 3}}));
}

// Hybrid sharding: each rank knows its row and its column.
TEST(BatchRanksTest, GroupsThatMeetAreOneSet) {
  EXPECT_EQ(batch_sets({step_of(0, {0, 1, 2}), step_of(1, {0, 1, 3}), step_of(2, {0, 2, 3}), step_of(3, {1, 2, 3})}),
            (Sets{{0, 1, 2, 3}}));
}

}  // namespace
}  // namespace plumbline::checks
