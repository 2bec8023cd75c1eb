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
using testing::Outcome;
using testing::verdict_of;

// Two ranks that reduce and step three times.
void train(FakeRank& rank, std::uint64_t world) {
  for (int step = 0; step < 3; ++step) {
    rank.whole_call(10 + 10 * step, 12 + 10 * step, world, Op::kAllReduce);
    rank.step(13 + 10 * step, 14 + 10 * step);
  }
}

TEST(HangTest, AHealthyRunPasses) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    train(rank, rank.group("0", "default_pg", "0,1"));
    rank.exit(0);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(HangTest, WithoutCollectivesItIsNotEvaluated) {
  const TempDir directory;
  testing::write_trace(directory.path());
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kNotEvaluated);
}

TEST(HangTest, NamesTheRankThatLeftTheLoopAndWhatItDidLast) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  train(rank0, world0);
  rank0.open_range(39, "DistributedDataParallel.forward");
  const auto open = rank0.call(40, world0, Op::kAllReduce, {.count = 82624});
  rank0.wait(41, open);
  rank0.resident(9000, 1);
  rank0.killed();
  FakeRank rank1(directory.path(), 1, 2);
  train(rank1, rank1.group("0", "default_pg", "0,1"));
  rank1.range(36, 38, "evaluate");
  rank1.exit(0);

  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.status, Status::kFail);
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(finding.title, "rank 1 never joined all_reduce #3 of default_pg (ranks 0,1); rank 0 waits in it");
  EXPECT_TRUE(mentions(finding.details, "AdamW (step 2) until 0.034 s, evaluate until 0.038 s")) << all_of(finding);
  EXPECT_TRUE(mentions(finding.details, "rank 1 did last")) << all_of(finding);
  EXPECT_TRUE(mentions(finding.details, "exited with status 0")) << all_of(finding);
  EXPECT_TRUE(
      mentions(finding.details, "rank 0 waits in all_reduce #3, sum of float32[82624] since 0.040 s (for 9.0 s)"))
      << all_of(finding);
  EXPECT_TRUE(mentions(finding.details, "step 3, inside DistributedDataParallel.forward, in Work.wait()"))
      << all_of(finding);
  ASSERT_EQ(finding.evidence.size(), 1U);
  EXPECT_EQ(finding.evidence[0].rank, 0);
  EXPECT_EQ(finding.evidence[0].record, open);
  EXPECT_EQ(finding.evidence[0].step, 3);
  EXPECT_EQ(finding.evidence[0].time_ns, 40'000'000U);
}

// Nothing of the missing rank says that it has ended: it may be on its way.
TEST(HangTest, ARankThatMayStillRunMakesItInconclusive) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  train(rank0, world);
  rank0.call(40, world, Op::kAllReduce);
  rank0.killed();
  FakeRank rank1(directory.path(), 1, 2);
  train(rank1, rank1.group("0", "default_pg", "0,1"));
  rank1.trace().flush();
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(mentions(verdict.findings[0].unknown, "whether rank 1 will still get there"))
      << all_of(verdict.findings[0]);
}

TEST(HangTest, ARankThatDiedInTheCallIsNamedWhenTheOthersFailed) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  rank0.whole_call(10, 12, world0, Op::kAllReduce);
  rank0.end(25, rank0.call(20, world0, Op::kAllReduce), Outcome::kFailed);
  rank0.exit(1, 0, "RuntimeError", "Connection closed by peer");
  FakeRank rank1(directory.path(), 1, 2);
  const auto world1 = rank1.group("0", "default_pg", "0,1");
  rank1.whole_call(10, 12, world1, Op::kAllReduce);
  rank1.call(20, world1, Op::kAllReduce);
  rank1.exit(-1, 11);
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 1 ended inside all_reduce #1 of default_pg (ranks 0,1); it failed on rank 0");
  EXPECT_TRUE(mentions(verdict.findings[0].details, "was killed by SIGSEGV")) << all_of(verdict.findings[0]);
}

TEST(HangTest, DifferentCallsUnderOneNumberAreAMismatch) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    const auto world = rank.group("0", "default_pg", "0,1,2");
    rank.whole_call(10, 12, world, Op::kBarrier);
    if (number == 1) {
      rank.call(20, world, Op::kAllGather, {.count = 7});
    } else {
      rank.call(20, world, Op::kAllReduce, {.count = 4096});
    }
    rank.exit(-1, 6);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(finding.title,
            "different calls as #1 of default_pg (ranks 0-2): ranks 0,2 called all_reduce #1, sum of float32[4096], "
            "rank 1 called all_gather #1, sum of float32[7]");
  EXPECT_TRUE(mentions(finding.details, "rank 1 called all_gather #1")) << all_of(finding);
  EXPECT_TRUE(mentions(finding.details, "rank 0 waits in all_reduce #1, sum of float32[4096]")) << all_of(finding);
}

// Rank 2 hangs the data-parallel group of 0 and 2; rank 0, stuck there, is missing in the tensor-parallel one.
TEST(HangTest, TheCauseComesBeforeWhatFollowsFromIt) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 3);
  rank0.group("tp", "tensor", "0,1", 0);
  const auto dp0 = rank0.group("dp", "data", "0,2", 0);
  rank0.call(20, dp0, Op::kAllReduce);
  rank0.exit(-1, 15);
  FakeRank rank1(directory.path(), 1, 3);
  const auto tp1 = rank1.group("tp", "tensor", "0,1", 1);
  rank1.call(20, tp1, Op::kAllReduce);
  rank1.exit(-1, 15);
  FakeRank rank2(directory.path(), 2, 3);
  rank2.group("dp", "data", "0,2", 1);
  rank2.step(1, 2);
  rank2.exit(0);
  const Verdict verdict = verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title, "rank 2 never joined all_reduce #0 of data (ranks 0,2); rank 0 waits in it");
  EXPECT_EQ(finding.affected, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(mentions(finding.details, "in the end ranks 0,1 wait for it")) << all_of(finding);
}

TEST(HangTest, ARankWithoutATraceMayBeTheMissingOne) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  rank0.call(20, rank0.group("0", "default_pg", "0,1"), Op::kAllReduce);
  rank0.exit(-1, 15);
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
  EXPECT_TRUE(mentions(verdict.findings[0].unknown, "what rank 1 did: there is no trace"))
      << all_of(verdict.findings[0]);
}

TEST(HangTest, WithARankUnseenNothingPasses) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  train(rank0, rank0.group("0", "default_pg", "0,1"));
  rank0.exit(0);
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kInconclusive);
}

// The NCCL C API says when a call was made, not when the device had done it.
TEST(HangTest, CallsWithoutARecordedEndAreNotTakenForUnfinished) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1", -1, "nccl");
    rank.returned(11, rank.call(10, world, Op::kAllReduce, {.layer = testing::Layer::kNccl}));
    rank.exit(0);
  }
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kPass);
}

TEST(HangTest, CallsInsideAnotherCallAreNotCountedTwice) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    const auto outer = rank.call(10, world, Op::kReduceScatter);
    rank.call(11, rank.group("inner", "", "0,1"), Op::kAllReduce, {.parent = outer});
    rank.end(12, outer);
    rank.exit(0);
  }
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kPass);
}

TEST(HangTest, AReceiveWithoutItsSendNamesTheSender) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  rank0.group("0", "default_pg", "0,1");
  rank0.step(5, 6);
  rank0.exit(0);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.call(10, rank1.group("0", "default_pg", "0,1"), Op::kRecv, {.peer = 0, .tag = 5});
  rank1.exit(-1, 15);
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "rank 0 never sent what rank 1 receives from it in default_pg (tag 5)");
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{0});
}

TEST(HangTest, PairedTransfersPass) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  rank0.whole_call(10, 11, rank0.group("0", "default_pg", "0,1"), Op::kSend, {.peer = 1});
  rank0.exit(0);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.whole_call(10, 11, rank1.group("0", "default_pg", "0,1"), Op::kRecv, {.peer = 0});
  rank1.exit(0);
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kPass);
}

// A restart leaves the first attempt's traces: they are judged among themselves.
TEST(HangTest, AttemptsAreNotMixed) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank first(directory.path(), number, 2, {.attempt = 0});
    train(first, first.group("0", "default_pg", "0,1"));
    first.exit(0);
    FakeRank second(directory.path(), number, 2, {.attempt = 1, .pid = 2000U + static_cast<unsigned>(number)});
    const auto world = second.group("0", "default_pg", "0,1");
    second.whole_call(10, 11, world, Op::kAllReduce);
    second.exit(0);
  }
  EXPECT_EQ(verdict_of(check_hang, directory).status, Status::kPass);
}

TEST(HangTest, AFindingOfARestartedRunSaysWhichAttempt) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank first(directory.path(), number, 2, {.attempt = 0});
    const auto world = first.group("0", "default_pg", "0,1");
    if (number == 0) first.call(10, world, Op::kAllReduce);
    first.exit(-1, 15);
    FakeRank second(directory.path(), number, 2, {.attempt = 1, .pid = 2000U + static_cast<unsigned>(number)});
    second.whole_call(10, 11, second.group("0", "default_pg", "0,1"), Op::kAllReduce);
    second.exit(0);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "attempt 0: rank 1 never joined all_reduce #0 of default_pg (ranks 0,1); rank 0 waits in it");
}

TEST(HangTest, DroppedCallsMakeAnAbsenceInconclusive) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  train(rank0, world);
  rank0.call(50, world, Op::kAllReduce);
  rank0.exit(-1, 15);
  FakeRank rank1(directory.path(), 1, 2);
  train(rank1, rank1.group("0", "default_pg", "0,1"));
  rank1.trace().drop(recorder::Kind::kCollective, 1);
  rank1.exit(0);
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(mentions(verdict.findings[0].unknown, "whether rank 1 made the call")) << all_of(verdict.findings[0]);
}

TEST(HangTest, AllInItAndNobodyOutIsNoDesync) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    rank.call(10, rank.group("0", "default_pg", "0,1,2"), Op::kAllReduce);
    rank.resident(60'000, 1);
    rank.exit(-1, 15);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(
      verdict.findings[0].title,
      "all_reduce #0 of default_pg (ranks 0-2) did not finish on ranks 0-2; no rank with a trace is missing in it");
  EXPECT_TRUE(verdict.findings[0].ranks.empty());
  EXPECT_NE(verdict.findings[0].next.find("network and devices"), std::string::npos);
}

// A device that stands still: the rank's peers have done what it has not, and wait for it in the next call.
TEST(HangTest, ARankThatDoesNotFinishWhatItsPeersDidIsNamed) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    const auto group = rank.group("ep", "expert", "0,1,2");
    const auto first = rank.call(10, group, Op::kAllToAllBase);
    if (number != 2) rank.end(12, first);
    if (number != 2) rank.call(13, group, Op::kAllToAllBase);
    rank.resident(60'000, 1);
    rank.exit(-1, 15);
  }
  const Verdict verdict = verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 2 did not finish all_to_all_base #0 of expert (ranks 0-2), which ranks 0,1 did");
  EXPECT_EQ(verdict.findings[0].affected, (std::vector<std::int32_t>{0, 1}));
}

// The time that it has lasted decides, against how long the run's collectives take otherwise.
TEST(HangTest, AWaitIsAHangOnlyWhenItIsLongForThisRun) {
  for (const bool slow_run : {false, true}) {
    const TempDir directory;
    FakeRank rank0(directory.path(), 0, 2, {.host = "elsewhere"});
    const auto world = rank0.group("0", "default_pg", "0,1");
    rank0.whole_call(10, slow_run ? 25'000 : 12, world, Op::kAllReduce);
    rank0.call(30'000, world, Op::kAllReduce);
    rank0.resident(60'000, 1);
    rank0.killed();
    FakeRank rank1(directory.path(), 1, 2, {.host = "elsewhere"});
    rank1.whole_call(10, slow_run ? 25'000 : 12, rank1.group("0", "default_pg", "0,1"), Op::kAllReduce);
    rank1.resident(60'000, 1);
    rank1.killed();
    EXPECT_EQ(verdict_of(check_hang, directory).findings.at(0).unknown.empty(), false);
    EXPECT_EQ(mentions(verdict_of(check_hang, directory).findings[0].unknown, "whether rank 1 will still get there"),
              slow_run);
  }
}

TEST(HangTest, TheStackOfTheRankThatIsMissingTellsTheLine) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  rank0.wait(21, rank0.call(20, world, Op::kAllReduce, {.site = "/home/me/jobs/train.py:30 in main"}));
  rank0.resident(60'000, 1);
  rank0.exit(-1, 15);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.group("0", "default_pg", "0,1");
  rank1.stack(50'000,
              {.python = {{"get", "/usr/lib/python3.12/queue.py", 171}, {"fetch", "/home/me/jobs/data.py", 20}}});
  rank1.resident(60'000, 1);
  rank1.exit(-1, 15);
  const Verdict verdict = verdict_of(check_hang, directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.descent.line, "rank 1 is at jobs/data.py:20 in fetch; rank 0 waits at jobs/train.py:30 in main");
  EXPECT_TRUE(mentions(finding.details, "rank 1 stood at 50.000 s: get (queue.py:171) < fetch (data.py:20)"))
      << all_of(finding);
}

}  // namespace
}  // namespace plumbline::checks
