#include "checks/group_fronts.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "reader/group_status.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;

TEST(GroupFrontsTest, CountsByMember) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 3);
  const auto world = rank0.group("0", "default_pg", "0,1,2");
  rank0.whole_call(1, 2, world, Op::kAllReduce);
  rank0.end(4, rank0.call(3, world, Op::kAllReduce), Outcome::kFailed);
  rank0.call(5, world, Op::kAllReduce);
  rank0.exit(0);
  FakeRank rank1(directory.path(), 1, 3);
  rank1.whole_call(1, 2, rank1.group("0", "default_pg", "0,1,2"), Op::kAllReduce);
  rank1.exit(0);

  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const auto groups = group_fronts(subject, {0, 0});
  ASSERT_EQ(groups.size(), 1U);
  const GroupFront& group = groups[0];
  EXPECT_EQ(group.name, "default_pg");
  EXPECT_EQ(group.backend, "gloo");
  EXPECT_EQ(group.ranks(), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(group.members[0].enqueued, 2);
  EXPECT_EQ(group.members[0].completed, 0);
  EXPECT_TRUE(group.members[0].called(2));
  EXPECT_FALSE(group.members[0].called(3));
  EXPECT_EQ(group.members[1].enqueued, 0);
  EXPECT_FALSE(group.members[2].has_trace);
}

TEST(GroupFrontsTest, AMemberThatNeverSawTheGroupHasItsTrace) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  rank0.call(1, rank0.group("sub", "", "0,1"), Op::kBarrier);
  rank0.exit(0);
  testing::write_trace(directory.path(), 1, 2);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const auto groups = group_fronts(subject, {0, 0});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_TRUE(groups[0].members[1].has_trace);
  EXPECT_EQ(groups[0].members[1].enqueued, -1);
}

TEST(GroupFrontsTest, OneNameForTwoSetsOfRanksIsTwoGroups) {
  const TempDir directory;
  for (const int number : {0, 1, 2, 3}) {
    FakeRank rank(directory.path(), number, 4);
    const bool low = number < 2;
    rank.whole_call(1, 2, rank.group("dp", "data", low ? "0,1" : "2,3", number % 2), Op::kAllReduce);
    rank.exit(0);
  }
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const auto groups = group_fronts(subject, {0, 0});
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].ranks(), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(groups[1].ranks(), (std::vector<std::int32_t>{2, 3}));
}

TEST(GroupFrontsTest, PointToPointCallsDoNotCountAsCollectives) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  rank.whole_call(1, 2, rank.group("0", "default_pg", "0,1"), Op::kSend, {.peer = 1});
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  EXPECT_EQ(group_fronts(subject, {0, 0}).at(0).members[0].enqueued, -1);
}

TEST(GroupFrontsTest, EndsThatNobodyRecordsAreSaidToBeUnseen) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.returned(2, rank.call(1, rank.group("0", "default_pg", "0", 0, "nccl"), Op::kAllReduce));
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  EXPECT_FALSE(group_fronts(subject, {0, 0}).at(0).completions_seen);
}

// A flight recorder dump of a rank that hangs before its next call may hold nothing but the numbers.
TEST(GroupFrontsTest, NumbersWithoutCallsAreTaken) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  reader::GroupStatus status;
  status.group = rank.group("0", "default_pg", "0,1");
  status.enqueued = status.completed = 20946;
  const auto [key, value] = reader::fact_of(status);
  rank.trace().fact(key, value);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const FrontMember member = group_fronts(subject, {0, 0}).at(0).members[0];
  EXPECT_TRUE(member.counts_only);
  EXPECT_EQ(member.enqueued, 20946);
  EXPECT_EQ(member.started, -1);
  EXPECT_EQ(member.completed, 20946);
}

TEST(AttemptsTest, LaunchesAndRestartsAreToldApart) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), 0, 1, {.attempt = number, .pid = 100U + static_cast<unsigned>(number)});
    rank.exit(0);
  }
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(attempts_of(run), (std::vector<Attempt>{{0, 0}, {0, 1}}));
  EXPECT_EQ(attempt_prefix(run, {0, 1}), "attempt 1: ");
  EXPECT_TRUE(belongs(run.traces()[1], {0, 1}));
  EXPECT_FALSE(belongs(run.traces()[1], {0, 0}));
}

}  // namespace
}  // namespace plumbline::checks
