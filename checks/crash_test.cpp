#include "checks/crash.hpp"

#include <gtest/gtest.h>

#include "checks/ending.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

Verdict verdict_of(const TempDir& directory) { return testing::verdict_of(check_crash, directory); }

void end_one(const TempDir& directory, int number, double last_ms, int status, int signal = 0,
             std::string_view exception = {}, std::string_view message = {}) {
  FakeRank rank(directory.path(), number, 4);
  rank.step(1, 2);
  rank.resident(last_ms, 1);
  rank.exit(status, signal, exception, message);
}

TEST(CrashTest, AllCleanPasses) {
  const TempDir directory;
  end_one(directory, 0, 10, 0);
  end_one(directory, 1, 10, 0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(CrashTest, AnExceptionIsToldWithItsClassAndFirstLine) {
  const TempDir directory;
  end_one(directory, 0, 10, 0);
  end_one(directory, 1, 20, 1, 0, "ValueError", "expected 4 columns\nbut got 5");
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 1 exited with status 1 after ValueError: expected 4 columns, ended at 0.020 s, step 1");
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
}

TEST(CrashTest, TheFirstToFailComesBeforeThoseThatTheLauncherEnded) {
  const TempDir directory;
  end_one(directory, 0, 30, -1, 15);
  end_one(directory, 1, 20, -1, 6);
  end_one(directory, 2, 31, -1, 15);
  end_one(directory, 3, 10, -1, 15);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "rank 1 was killed by SIGABRT, ended at 0.020 s, step 1");
  EXPECT_EQ(verdict.findings[0].details.back(), "ranks 0,2,3 then got SIGTERM, as launchers send it to the rest");
}

// torchrun reports the rank that printed first; the one whose connection broke is a victim.
TEST(CrashTest, ALostConnectionIsAConsequence) {
  const TempDir directory;
  end_one(directory, 0, 10, 1, 0, "RuntimeError", "[/pair.cc:534] Connection closed by peer [127.0.0.1]:1234");
  end_one(directory, 1, 12, -1, 11);
  end_one(directory, 2, 40, 1, 0, "torch.distributed.DistBackendError", "Timed out waiting 1800000ms for recv");
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title, "rank 1 was killed by SIGSEGV, ended at 0.012 s, step 1");
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(finding.affected, (std::vector<std::int32_t>{0, 2}));
  EXPECT_FALSE(finding.symptom);
  ASSERT_EQ(finding.details.size(), 3U);
  EXPECT_EQ(finding.details[1], "rank 0 lost the connection to it, and failed because of that");
  EXPECT_EQ(finding.details[2], "rank 2 gave up waiting, and failed because of that");
}

TEST(CrashTest, ARunInWhichAllFollowedSomethingElseIsASymptom) {
  const TempDir directory;
  end_one(directory, 0, 10, 1, 0, "RuntimeError", "Timed out waiting 30000ms for recv operation to complete");
  for (const int number : {1, 2, 3}) end_one(directory, number, 20, -1, 15);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{0});
  EXPECT_TRUE(verdict.findings[0].symptom);
  EXPECT_EQ(verdict.findings[0].unknown.size(), 1U);
}

TEST(CrashTest, TheFirstOfTwoErrorsIsTheCause) {
  const TempDir directory;
  end_one(directory, 0, 30, 1, 0, "KeyError", "'labels'");
  end_one(directory, 1, 20, 1, 0, "ValueError", "bad batch");
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(verdict.findings[0].details.back(), "rank 0 failed too, later");
}

// gloo aborts the rank that gets more than it asked for: what the others called is the question.
TEST(CrashTest, AnAbortInsideACollectiveNamesIt) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 2);
  const auto call = rank.call(10, rank.group("0", "default_pg", "0,1"), testing::Op::kAllReduce,
                              {.count = 72, .site = "train.py:9 in main"});
  rank.wait(11, call);
  rank.exit(-1, 6);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.details.at(1), "it was inside all_reduce #0, sum of float32[72] of default_pg");
  EXPECT_EQ(finding.place.seq, 0);
  EXPECT_EQ(finding.descent.line, "train.py:9 in main");
  EXPECT_EQ(finding.next, "compare what the other ranks call as #0: a library aborts when sizes do not fit");
}

TEST(CrashTest, WhenAllGotTheSameSignalTheyAreToldTogether) {
  const TempDir directory;
  for (const int number : {0, 1, 2, 3}) end_one(directory, number, 10 + number, -1, 15);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "ranks 0-3 were killed by SIGTERM, first at 0.010 s, step 1");
  EXPECT_EQ(verdict.findings[0].ranks.size(), 4U);
  EXPECT_EQ(verdict.findings[0].evidence.size(), 4U);
}

TEST(CrashTest, WithoutAnExitRecordOnAnotherMachineItIsInconclusive) {
  const TempDir directory;
  end_one(directory, 0, 10, 0);
  FakeRank rank(directory.path(), 1, 2, {.host = "elsewhere"});
  rank.step(1, 2);
  rank.killed();
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.unknown.size(), 1U);
  EXPECT_EQ(verdict.unknown[0], "how rank 1 ended: no exit record, and no way to ask from here");
}

// A status that nobody saw, without a signal and an exception, is no evidence of a failure.
TEST(CrashTest, AnUnknownStatusAloneIsNoFailure) {
  const TempDir directory;
  end_one(directory, 0, 10, -1);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(EndingTest, KindsAndWords) {
  const TempDir directory;
  end_one(directory, 0, 10, 3);
  end_one(directory, 1, 10, -1, 11);
  end_one(directory, 2, 10, -1, 0, "KeyError", "");
  const reader::Run run = open_run(directory.path());
  const Ending status = ending_of(*run.find(0));
  EXPECT_EQ(status.kind, EndingKind::kFailed);
  EXPECT_EQ(status.clause, "exited with status 3");
  EXPECT_TRUE(status.bad());
  const Ending signal = ending_of(*run.find(1));
  EXPECT_EQ(signal.kind, EndingKind::kSignal);
  EXPECT_EQ(signal.brief, "was killed by SIGSEGV");
  const Ending exception = ending_of(*run.find(2));
  EXPECT_EQ(exception.kind, EndingKind::kFailed);
  EXPECT_EQ(exception.clause, "exited, status not known after KeyError");
}

TEST(EndingTest, TheWordsOfAnErrorTellItsOrigin) {
  EXPECT_EQ(origin_of("RuntimeError", "Connection reset by peer"), Origin::kPeerLost);
  EXPECT_EQ(origin_of("DistBackendError", "NCCL error: remote process exited or there was a network error"),
            Origin::kPeerLost);
  EXPECT_EQ(origin_of("DistStoreError", "wait timeout after 60000ms"), Origin::kTimedOut);
  EXPECT_EQ(origin_of("RuntimeError", "the loss is not a number"), Origin::kOwn);
  // A job's own error that speaks of a timeout is not the library's.
  EXPECT_EQ(origin_of("ValueError", "request timed out"), Origin::kOwn);
}

TEST(EndingTest, LongMessagesAreCutToALine) {
  const TempDir directory;
  end_one(directory, 0, 10, 1, 0, "RuntimeError", std::string(1000, 'x'));
  const reader::Run run = open_run(directory.path());
  EXPECT_LT(ending_of(*run.find(0)).clause.size(), 200U);
}

TEST(EndingTest, SignalNames) {
  EXPECT_EQ(signal_name(9), "SIGKILL");
  EXPECT_EQ(signal_name(15), "SIGTERM");
  EXPECT_EQ(signal_name(200), "signal 200");
}

}  // namespace
}  // namespace plumbline::checks
