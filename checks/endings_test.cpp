#include "checks/endings.hpp"

#include <gtest/gtest.h>

#include "checks/ending.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

Verdict verdict_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  return check_endings(Subject(run));
}

void end_one(const TempDir& directory, int number, double last_ms, int status, int signal = 0,
             std::string_view exception = {}, std::string_view message = {}) {
  FakeRank rank(directory.path(), number, 4);
  rank.step(1, 2);
  rank.resident(last_ms, 1);
  rank.exit(status, signal, exception, message);
}

TEST(EndingsTest, AllCleanPasses) {
  const TempDir directory;
  end_one(directory, 0, 10, 0);
  end_one(directory, 1, 10, 0);
  EXPECT_EQ(verdict_of(directory).status, Status::kPass);
}

TEST(EndingsTest, AnExceptionIsToldWithItsClassAndFirstLine) {
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

TEST(EndingsTest, TheFirstToFailComesBeforeThoseThatTheLauncherEnded) {
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

TEST(EndingsTest, WhenAllGotTheSameSignalTheyAreToldTogether) {
  const TempDir directory;
  for (const int number : {0, 1, 2, 3}) end_one(directory, number, 10 + number, -1, 15);
  const Verdict verdict = verdict_of(directory);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title, "ranks 0-3 were killed by SIGTERM, first at 0.010 s, step 1");
  EXPECT_EQ(verdict.findings[0].ranks.size(), 4U);
  EXPECT_EQ(verdict.findings[0].evidence.size(), 4U);
}

TEST(EndingsTest, WithoutAnExitRecordOnAnotherMachineItIsInconclusive) {
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
TEST(EndingsTest, AnUnknownStatusAloneIsNoFailure) {
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
