#include "checks/mismatch_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "checks/mismatch.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::FakeRank;
using testing::mentions;
using testing::Op;

using Act = std::function<void(int, FakeRank&, std::uint64_t)>;

Verdict verdict_of(const Act& act) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    act(number, rank, rank.group("0", "default_pg", "0,1"));
  }
  return testing::verdict_of(check_mismatch, directory);
}

// Rank 0 broadcasts so often more than rank 1, which ends as `end` says.
Act broadcasts(int more, const std::function<void(FakeRank&)>& end) {
  return [=](int number, FakeRank& rank, std::uint64_t world) {
    for (int index = 0; index < 3 + (number == 0 ? more : 0); ++index)
      rank.whole_call(10 * index, 10 * index + 1, world, Op::kBroadcast, {.peer = 0, .site = "t.py:4 in share"});
    number == 0 ? rank.exit(0) : end(rank);
  };
}

TEST(MismatchPartsTest, AMissingCallIsToldWithWhatTheRankDidAndHowManyItMissed) {
  const Verdict verdict = verdict_of(broadcasts(2, [](FakeRank& rank) { rank.exit(0); }));
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_TRUE(mentions(finding.details, "rank 1 did last: ")) << finding.title;
  EXPECT_TRUE(mentions(finding.details, "it missed 2 calls in all")) << finding.title;
  EXPECT_EQ(finding.place.seq, 3);
  EXPECT_EQ(finding.descent.line, "rank 0 called at t.py:4 in share");
  EXPECT_EQ(finding.next, "compare the path that rank 1 takes at that line with the others'");
}

TEST(MismatchPartsTest, ARankThatWasEndedMayHaveBeenOnItsWay) {
  const Verdict verdict = verdict_of(broadcasts(1, [](FakeRank& rank) { rank.exit(-1, 9); }));
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(MismatchPartsTest, ACallThatIsStillWaitedInIsNoMissingOne) {
  const Verdict verdict = verdict_of([](int number, FakeRank& rank, std::uint64_t world) {
    rank.whole_call(1, 2, world, Op::kBarrier);
    if (number == 0) rank.call(10, world, Op::kAllReduce);
    rank.exit(0);
  });
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(MismatchPartsTest, LostEventsMakeAMissingCallUncertain) {
  const Verdict verdict = verdict_of(broadcasts(1, [](FakeRank& rank) {
    rank.trace().drop(recorder::Kind::kCollective, 1);
    rank.exit(0);
  }));
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].status, Status::kInconclusive);
  EXPECT_TRUE(mentions(verdict.findings[0].unknown,
                       "whether rank 1 made the call: events of its trace are lost (run-reader verify)"));
}

TEST(MismatchPartsTest, AnExchangeWhosePartsDoNotAddUpNamesNoRank) {
  const Verdict verdict = verdict_of([](int number, FakeRank& rank, std::uint64_t world) {
    rank.whole_call(10, 11, world, Op::kAllToAllBase,
                    {.count = 10, .site = "moe.py:8 in route", .count_out = number == 0 ? 12 : 7, .splits = 3});
    rank.exit(0);
  });
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(mentions(finding.unknown, "which rank's split sizes are wrong"));
  EXPECT_EQ(finding.descent.operation, "all_to_all_base #0: the split sizes differ");
  EXPECT_EQ(finding.descent.line, "rank 0 called at moe.py:8 in route");
}

TEST(MismatchPartsTest, OneOfTwoViewsOfAGroupThatAllMembersShareIsNoDispute) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    rank.group("7", "tensor", number == 0 ? "0,1" : "0,1,2");
    // Rank 0 made both, one after the other; only who knows one of two alone disagrees.
    if (number == 0) rank.group("7", "tensor", "0,1,2");
    rank.whole_call(1, 2, rank.group("0", "default_pg", "0,1,2"), Op::kBarrier);
    rank.exit(0);
  }
  const Verdict verdict = testing::verdict_of(check_mismatch, directory);
  EXPECT_TRUE(verdict.findings.empty()) << verdict.findings.at(0).title;
}

}  // namespace
}  // namespace plumbline::checks
