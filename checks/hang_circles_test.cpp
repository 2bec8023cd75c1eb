// Ranks that wait for each other.
#include "checks/hang.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::all_of;
using testing::FakeRank;
using testing::mentions;
using testing::Op;
using testing::verdict_of;

TEST(HangCirclesTest, SendAgainstSendIsACircle) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    rank.whole_call(1, 2, world, Op::kBarrier);
    rank.wait(11, rank.call(10, world, Op::kSend, {.count = 1 << 20, .peer = 1 - number, .site = "ring.py:9 in swap"}));
    rank.resident(60'000, 1);
    rank.exit(-1, 15);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title, "ranks 0,1 wait for each other in a circle: rank 0 sends to 1, rank 1 sends to 0");
  EXPECT_EQ(finding.ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(finding.descent.line, "rank 0 waits at ring.py:9 in swap; rank 1 waits at ring.py:9 in swap");
  EXPECT_NE(finding.next.find("batch_isend_irecv"), std::string::npos);
}

// Fewer micro-batches than stages: each stage waits for what the other would send after it got what it waits for.
TEST(HangCirclesTest, ReceiveAgainstReceiveIsACircle) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    rank.wait(11, rank.call(10, rank.group("pp", "pipeline", "0,1"), Op::kRecv, {.peer = 1 - number}));
    rank.resident(60'000, 1);
    rank.exit(-1, 15);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "ranks 0,1 wait for each other in a circle: rank 0 receives from 1, rank 1 receives from 0");
}

// Each step exchanges among the experts, then reduces; `skips` leaves the last exchange out.
void route(const std::string& directory, int number, bool skips) {
  FakeRank rank(directory, number, 3);
  const auto world = rank.group("0", "default_pg", "0,1,2");
  const auto experts = rank.group("1", "experts", "0,1,2");
  for (int step = 0; step < 4; ++step) {
    rank.whole_call(10 + 10 * step, 12 + 10 * step, experts, Op::kAllToAll, {.site = "train.py:10 in route"});
    rank.whole_call(13 + 10 * step, 14 + 10 * step, world, Op::kAllReduce, {.site = "train.py:20 in average"});
  }
  const auto open = skips ? rank.call(60, world, Op::kAllReduce, {.site = "train.py:20 in average"})
                          : rank.call(60, experts, Op::kAllToAll, {.site = "train.py:10 in route"});
  rank.wait(61, open);
  rank.stack(5000, {.python = {{"wait", "train.py", 20}}});
  rank.exit(-1, 15);
}

TEST(HangCirclesTest, OfACircleThoseAreNamedThatLeftTheirUsualPath) {
  const TempDir directory;
  route(directory.path(), 0, true);
  route(directory.path(), 1, false);
  route(directory.path(), 2, true);
  const Verdict verdict = verdict_of(check_hang, directory);
  // No ten seconds have passed, but a rank was seen to stand still.
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.ranks, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(finding.affected, std::vector<std::int32_t>{1});
  EXPECT_EQ(finding.place.group, "experts");
  EXPECT_NE(finding.title.find("ranks 0,2 left the path of the steps before and never joined all_to_all #4 of experts"),
            std::string::npos)
      << finding.title;
  EXPECT_NE(finding.next.find("the condition by which ranks 0,2 did not come"), std::string::npos) << finding.next;
}

// A receive that was posted ahead does not hold its rank: rank 1 computes, and rank 0 waits for it.
TEST(HangCirclesTest, AReceivePostedAheadMakesNoCircle) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  rank0.wait(21, rank0.call(20, world, Op::kAllReduce));
  rank0.resident(60'000, 1);
  rank0.exit(-1, 15);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.call(10, rank1.group("0", "default_pg", "0,1"), Op::kRecv, {.peer = 0});
  rank1.resident(60'000, 1);
  rank1.exit(-1, 15);
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 1 never joined all_reduce #0 of default_pg (ranks 0,1); rank 0 waits in it");
}

}  // namespace
}  // namespace plumbline::checks
