#include "checks/open_call.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;

std::optional<OpenCall> open_call_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  return first_open_call(subject, group_calls(subject, 0, 0).at(0));
}

// Each rank makes as many all_reduces as `calls` says; the last `open` of them do not end.
void write(const TempDir& directory, const std::vector<int>& calls, const std::vector<int>& open) {
  std::string members;
  for (std::size_t rank = 0; rank < calls.size(); ++rank) members += (rank == 0 ? "" : ",") + std::to_string(rank);
  for (std::size_t number = 0; number < calls.size(); ++number) {
    FakeRank rank(directory.path(), static_cast<std::int32_t>(number), static_cast<std::int32_t>(calls.size()));
    const auto world = rank.group("0", "default_pg", members);
    for (int call = 0; call < calls[number]; ++call) {
      const auto id = rank.call(10 * call, world, Op::kAllReduce);
      if (call < calls[number] - open[number]) rank.end(10 * call + 5, id);
    }
    rank.exit(0);
  }
}

TEST(OpenCallTest, NothingIsOpenWhenAllFinishedTheSame) {
  const TempDir directory;
  write(directory, {5, 5, 5}, {0, 0, 0});
  EXPECT_FALSE(open_call_of(directory).has_value());
}

TEST(OpenCallTest, StandingsOfEachMember) {
  const TempDir directory;
  write(directory, {4, 3, 4}, {1, 0, 1});
  const auto open = open_call_of(directory);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->seq, 3U);
  EXPECT_EQ(open->members[0].standing, Standing::kWaiting);
  EXPECT_EQ(open->members[1].standing, Standing::kAbsent);
  EXPECT_EQ(ranks_of(open->with(Standing::kWaiting)), (std::vector<std::int32_t>{0, 2}));
}

// Asynchronous calls pile up behind the one that hangs: the first is the one to look at.
TEST(OpenCallTest, TheFirstOfManyOpenCallsIsTaken) {
  const TempDir directory;
  write(directory, {9, 9}, {5, 6});
  const auto open = open_call_of(directory);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->seq, 3U);
  EXPECT_EQ(open->members[0].standing, Standing::kFinished);
  EXPECT_EQ(open->members[1].standing, Standing::kWaiting);
}

TEST(OpenCallTest, AnErrorIsFoundAmongFinishedCalls) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    rank.whole_call(10, 11, world, Op::kAllReduce);
    rank.end(21, rank.call(20, world, Op::kAllReduce), number == 0 ? Outcome::kFailed : Outcome::kCompleted);
    rank.whole_call(30, 31, world, Op::kAllReduce);
    rank.exit(0);
  }
  const auto open = open_call_of(directory);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->seq, 1U);
  EXPECT_EQ(open->members[0].standing, Standing::kFailed);
  EXPECT_EQ(open->members[1].standing, Standing::kFinished);
}

TEST(OpenCallTest, AWaitingCallIsTheExample) {
  const TempDir directory;
  write(directory, {3, 3}, {0, 1});
  const auto open = open_call_of(directory);
  ASSERT_TRUE(open.has_value());
  ASSERT_NE(open->example(), nullptr);
  EXPECT_EQ(open->example()->end_ns, 0U);
}

// The record of a finished call may lie far back from the end of the trace.
TEST(OpenCallTest, AFinishedCallIsFoundHoursBeforeTheEnd) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  rank0.whole_call(10, 11, world, Op::kBroadcast, {.peer = 0});
  rank0.trace().flush();
  rank0.resident(7'200'000, 1);
  rank0.exit(0);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.group("0", "default_pg", "0,1");
  rank1.step(1, 2);
  rank1.exit(0);
  const auto open = open_call_of(directory);
  ASSERT_TRUE(open.has_value());
  ASSERT_TRUE(open->members[0].call.has_value());
  EXPECT_EQ(open->members[0].call->op, Op::kBroadcast);
}

}  // namespace
}  // namespace plumbline::checks
