#include "checks/usual_path.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

constexpr std::string_view kRoute = "train.py:10 in route";
constexpr std::string_view kAverage = "train.py:20 in average";

// Each step exchanges among the experts, then reduces among all; the last one begins with `last`.
PathStep step_after(int steps, Op last) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  const auto world = rank.group("0", "default_pg", "0,1");
  const auto experts = rank.group("1", "experts", "0,1");
  double ms = 10;
  for (int step = 0; step < steps; ++step, ms += 10) {
    rank.whole_call(ms, ms + 1, experts, Op::kAllToAll, {.site = kRoute});
    rank.whole_call(ms + 2, ms + 3, world, Op::kAllReduce, {.site = kAverage});
  }
  const bool exchange = last == Op::kAllToAll;
  rank.call(ms, exchange ? experts : world, last, {.site = exchange ? kRoute : kAverage});
  rank.killed();
  const reader::Run run = open_run(directory.path());
  const reader::Trace& trace = run.traces()[0];
  std::optional<reader::Collective> open;
  reader::read_collectives(trace, {}, [&](const reader::Collective& call) {
    if (!call.settled()) open = call;
    return true;
  });
  return open ? path_to(trace, *open) : PathStep{};
}

TEST(UsualPathTest, AStepLikeTheOnesBeforeKeepsTheHabit) {
  EXPECT_EQ(step_after(4, Op::kAllToAll).habit, Habit::kKept);
}

TEST(UsualPathTest, ACallThatLeavesOutAnotherGroupsBreaksIt) {
  const PathStep step = step_after(4, Op::kAllReduce);
  EXPECT_EQ(step.habit, Habit::kBroken);
  EXPECT_EQ(step.usual.op, Op::kAllToAll);
}

TEST(UsualPathTest, WithoutAnEarlierStepNothingIsUsual) {
  EXPECT_EQ(step_after(1, Op::kAllToAll).habit, Habit::kUnknown);
  EXPECT_EQ(step_after(0, Op::kAllToAll).habit, Habit::kUnknown);
}

}  // namespace
}  // namespace plumbline::checks
