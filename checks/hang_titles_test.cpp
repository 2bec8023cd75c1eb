#include "checks/hang_titles.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "checks/hang.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;

// The only finding over two ranks that `act` makes; each says itself how it ends.
Finding finding_of(const std::function<void(int, FakeRank&, std::uint64_t)>& act) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    act(number, rank, rank.group("0", "default_pg", "0,1"));
  }
  const Verdict verdict = testing::verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.findings.size(), 1U);
  return verdict.findings.empty() ? Finding() : verdict.findings.front();
}

// A rank that waits for ever in a call.
void waits(FakeRank& rank, std::uint64_t group, Op op, const testing::CallDetails& details = {}) {
  rank.wait(11, rank.call(10, group, op, details));
  rank.resident(60'000, 1);
  rank.exit(-1, 15);
}

TEST(HangTitlesTest, AMessageThatNobodyReceives) {
  const Finding finding = finding_of([](int number, FakeRank& rank, std::uint64_t world) {
    if (number == 0) return waits(rank, world, Op::kSend, {.peer = 1, .tag = 7});
    rank.step(5, 6);
    rank.exit(0);
  });
  EXPECT_EQ(finding.title, "rank 1 never received what rank 0 sends to it in default_pg (tag 7)");
}

TEST(HangTitlesTest, ARankWithoutATraceMayHaveBeenThere) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  waits(rank0, rank0.group("0", "default_pg", "0,1"), Op::kAllReduce);
  const Verdict verdict = testing::verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 1, of which there is no trace, may have never joined all_reduce #0 of default_pg (ranks 0,1); rank 0 "
            "waits in it");
  EXPECT_EQ(verdict.findings[0].next, "find out how rank 1 fared");
}

TEST(HangTitlesTest, ARankThatEndedByItselfHadFewerBatches) {
  const Finding finding = finding_of([](int number, FakeRank& rank, std::uint64_t world) {
    rank.step(1, 2);
    if (number == 0) return waits(rank, world, Op::kAllReduce);
    rank.exit(0);
  });
  EXPECT_EQ(finding.next,
            "print the number of batches on each rank (length of the loader, drop_last, uneven data): rank 1 ended by "
            "itself after 1 step");
}

TEST(HangTitlesTest, ARankWhoseStackIsKnownIsLookedAtThere) {
  const Finding finding = finding_of([](int number, FakeRank& rank, std::uint64_t world) {
    if (number == 0) return waits(rank, world, Op::kAllReduce);
    rank.stack(30'000, {.python = {{"read", "data.py", 12}}});
    rank.exit(-1, 15);
  });
  EXPECT_EQ(finding.next, "see what rank 1 waits for at data.py:12 in read");
}

TEST(HangTitlesTest, ARankThatFailedIsReadAndOneThatWasEndedIsRunAgain) {
  const auto next_after = [](const std::function<void(FakeRank&)>& end) {
    return finding_of([&](int number, FakeRank& rank, std::uint64_t world) {
             if (number == 0) return waits(rank, world, Op::kAllReduce);
             rank.step(1, 2);
             end(rank);
           })
        .next;
  };
  EXPECT_EQ(next_after([](FakeRank& rank) { rank.exit(1, 0, "KeyError", "'label'"); }), "read the error of rank 1");
  EXPECT_EQ(next_after([](FakeRank& rank) { rank.exit(-1, 15); }),
            "run again, and while it hangs: py-spy dump on rank 1");
}

// What the launcher ended after the failure is not its cause; what ended before is.
TEST(HangTitlesTest, AFailureIsLaidToTheRankThatWasGoneBefore) {
  const auto finding_with_end_at = [](double end_ms) {
    return finding_of([&](int number, FakeRank& rank, std::uint64_t world) {
      rank.whole_call(1, 2, world, Op::kBarrier);
      const auto call = rank.call(10, world, Op::kAllReduce);
      if (number == 0) {
        rank.resident(end_ms, 1);
        return rank.exit(-1, 15);
      }
      rank.end(50, call, Outcome::kFailed);
      rank.exit(1, 0, "RuntimeError", "no space left");
    });
  };
  const Finding after = finding_with_end_at(80);
  EXPECT_EQ(after.title, "all_reduce #1 of default_pg (ranks 0,1) failed on rank 1; others wait in it");
  EXPECT_EQ(after.next, "read the error of rank 1");
  const Finding before = finding_with_end_at(20);
  EXPECT_EQ(before.title, "rank 0 ended inside all_reduce #1 of default_pg (ranks 0,1); it failed on rank 1");
}

TEST(HangTitlesTest, WhereTheCodeIsInStepTheDevicesAreLookedAt) {
  const Finding all = finding_of([](int, FakeRank& rank, std::uint64_t world) { waits(rank, world, Op::kAllReduce); });
  EXPECT_NE(all.next.find("ncclras"), std::string::npos) << all.next;
  const Finding one = finding_of([](int number, FakeRank& rank, std::uint64_t world) {
    const auto first = rank.call(5, world, Op::kAllReduce);
    if (number == 1) return rank.resident(60'000, 1), rank.exit(-1, 15);
    rank.end(6, first);
    waits(rank, world, Op::kAllReduce);
  });
  EXPECT_EQ(one.title, "rank 1 did not finish all_reduce #0 of default_pg (ranks 0,1), which rank 0 did");
  EXPECT_EQ(one.next, "look at the devices and the kernel log of rank 1");
}

TEST(HangTitlesTest, ACircleOfReceivesNeedsASenderAndOneOfCollectivesAnOrder) {
  const Finding receives = finding_of(
      [](int number, FakeRank& rank, std::uint64_t world) { waits(rank, world, Op::kRecv, {.peer = 1 - number}); });
  EXPECT_NE(receives.next.find("let one of them send first"), std::string::npos) << receives.next;

  const Finding collectives = finding_of([](int number, FakeRank& rank, std::uint64_t world) {
    const auto other = rank.group("1", "other", "0,1");
    waits(rank, number == 0 ? world : other, Op::kAllReduce);
  });
  EXPECT_EQ(collectives.title,
            "ranks 0,1 wait for each other in a circle: rank 0 is in all_reduce #0 of default_pg, rank 1 is in "
            "all_reduce #0 of other");
  EXPECT_EQ(collectives.next, "let all ranks call the collectives of groups that overlap in the same order");
}

}  // namespace
}  // namespace plumbline::checks
