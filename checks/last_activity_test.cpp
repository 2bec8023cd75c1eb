#include "checks/last_activity.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

std::string text_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  return last_activity_text(Subject(run), 0, last_activity(run.traces()[0], 0));
}

TEST(LastActivityTest, TheTwoLatestThingsInOrder) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.whole_call(1, 2, rank.group("0", "default_pg", "0"), Op::kAllReduce);
  rank.range(3, 4, "forward");
  rank.step(5, 6);
  rank.exit(0);
  EXPECT_EQ(text_of(directory), "forward until 0.004 s, AdamW (step 0) until 0.006 s");
}

TEST(LastActivityTest, ARangeThatWasNotLeftIsSaidToBeInside) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(5, 6);
  rank.open_range(7, "outer");
  rank.open_range(8, "evaluate");
  rank.exit(0);
  EXPECT_EQ(text_of(directory), "AdamW (step 0) until 0.006 s, inside evaluate since 0.008 s");
}

TEST(LastActivityTest, RangesThatRepeatTheCallOrTheStepAreLeftOut) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.whole_call(1, 4, rank.group("0", "default_pg", "0"), Op::kAllReduce);
  rank.range(2, 5, "gloo:all_reduce");
  rank.range(6, 7, "Optimizer.step#AdamW.step");
  rank.exit(0);
  EXPECT_EQ(text_of(directory), "all_reduce #0 of default_pg until 0.004 s");
}

// Minutes of nothing but memory samples: what came before them is what counts.
TEST(LastActivityTest, LooksBackBeyondALongSilence) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(5, 6);
  for (int second = 1; second < 2000; ++second) rank.resident(1000.0 * second, 1);
  rank.exit(0);
  EXPECT_EQ(text_of(directory), "AdamW (step 0) until 0.006 s");
}

TEST(LastActivityTest, NothingRecordedIsSaid) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.resident(5, 1);
  rank.exit(0);
  EXPECT_EQ(text_of(directory), "nothing that was recorded");
}

TEST(LastActivityTest, TheOldestOpenCallIsKept) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  const auto world = rank.group("0", "default_pg", "0,1");
  const auto first = rank.call(1, world, Op::kAllReduce);
  rank.call(2, world, Op::kAllReduce);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const LastActivity activity = last_activity(run.traces()[0], 0);
  ASSERT_TRUE(activity.open_collective.has_value());
  EXPECT_EQ(activity.open_collective->id, first);
  EXPECT_FALSE(activity.ended_collective.has_value());
}

}  // namespace
}  // namespace plumbline::checks
