#include "checks/straggler.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_training.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::all_of;
using testing::FakeRank;
using testing::FakeTraining;
using testing::Op;
using testing::RankOptions;

Verdict verdict_of(const TempDir& directory) { return testing::verdict_of(check_straggler, directory); }

Verdict verdict_of(const FakeTraining& job) {
  const TempDir directory;
  job.write(directory.path());
  return verdict_of(directory);
}

bool says(const Finding& finding, std::string_view words) { return all_of(finding).find(words) != std::string::npos; }

void expect_clean(const Verdict& verdict) {
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.reason;
  for (const Finding& finding : verdict.findings) ADD_FAILURE() << all_of(finding);
}

TEST(StragglerTest, RanksThatKeepUpPass) {
  const Verdict verdict = verdict_of(FakeTraining{.ranks = 4});
  expect_clean(verdict);
  EXPECT_NE(verdict.reason.find("36 steps"), std::string::npos) << verdict.reason;
}

TEST(StragglerTest, AFixedSlowRankIsNamedWithPlaceAndCost) {
  FakeTraining job{.ranks = 4};
  job.delay = [](int rank, int) { return rank == 2 ? 60.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U) << all_of(verdict.findings.back());
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{2});
  EXPECT_EQ(finding.affected, (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_TRUE(says(finding, "rank 2 is slow: the others wait 60.")) << all_of(finding);
  EXPECT_TRUE(says(finding, "always the same rank")) << all_of(finding);
  EXPECT_TRUE(says(finding, "all_reduce in default_pg (ranks 0-3), called at jobs/train.py:41 in main"))
      << all_of(finding);
  EXPECT_EQ(finding.place.operation, "all_reduce");
  EXPECT_EQ(finding.place.group_ranks, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(finding.descent.line, "jobs/train.py:41 in main");
  ASSERT_FALSE(finding.evidence.empty());
  EXPECT_EQ(finding.evidence.front().rank, 2);
  EXPECT_GE(finding.evidence.front().step, 3);
  EXPECT_FALSE(finding.next.empty());
}

TEST(StragglerTest, WithoutMarkersStepsAreInferred) {
  FakeTraining job{.marked = false};
  expect_clean(verdict_of(job));
  job.delay = [](int rank, int) { return rank == 1 ? 60.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.findings.front().ranks, std::vector<std::int32_t>{1});
}

TEST(StragglerTest, ADelayThatMovesBlamesNoFixedRank) {
  FakeTraining job{.steps = 70, .marked = false};
  job.delay = [](int rank, int step) { return step % 7 == 0 && rank == step / 7 % 2 ? 300.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U) << all_of(verdict.findings.back());
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(says(finding, "slow by turns")) << all_of(finding);
  EXPECT_TRUE(says(finding, "moves between ranks")) << all_of(finding);
  EXPECT_TRUE(says(finding, "nothing that is hooked")) << all_of(finding);
  EXPECT_TRUE(says(finding, "in 6 of the 6 longest waits for a rank nothing that is hooked")) << all_of(finding);
}

TEST(StragglerTest, TheSameRankInSomeStepsIsTheSameRank) {
  FakeTraining job{.steps = 80};
  job.delay = [](int rank, int step) { return rank == 1 && step % 8 == 5 ? 300.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.findings.front().ranks, std::vector<std::int32_t>{1});
  EXPECT_TRUE(says(verdict.findings.front(), "steps")) << all_of(verdict.findings.front());
}

TEST(StragglerTest, LatenessThatFollowsWorkSaysSo) {
  FakeTraining job{.ranks = 4, .steps = 60};
  // One rank has up to twice the tokens of the others, another one in each step.
  const auto extra = [](int rank, int step) { return rank == step * 7 % 4 ? 10.0 * (step * 3 % 11) : 0.0; };
  job.elements = [&](int rank, int step) { return 1000 + static_cast<std::uint64_t>(10 * extra(rank, step)); };
  expect_clean(verdict_of(job));
  job.delay = extra;
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  EXPECT_TRUE(says(verdict.findings.front(), "the rank with most work is slow")) << all_of(verdict.findings.front());
  EXPECT_TRUE(says(verdict.findings.front(), "correlate")) << all_of(verdict.findings.front());
}

RankOptions on_host(int rank) {
  RankOptions options;
  options.host = rank < 2 ? "node1" : "node2";
  options.boot_id = rank < 2 ? "00000000-0000-0000-0000-000000000001" : "00000000-0000-0000-0000-000000000002";
  return options;
}

TEST(StragglerTest, RanksOfOneHostAreLaidToTheHost) {
  FakeTraining job{.ranks = 4};
  job.options = on_host;
  // A call that all come to at the same time is what the hosts' clocks are compared by.
  job.elements = [](int, int) { return std::uint64_t{1000}; };
  expect_clean(verdict_of(job));
  job.delay = [](int rank, int step) { return rank >= 2 ? 60.0 + (step + rank) % 2 * 5 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  EXPECT_EQ(verdict.findings.front().ranks, (std::vector<std::int32_t>{2, 3}));
  EXPECT_TRUE(says(verdict.findings.front(), "host node2 is slow")) << all_of(verdict.findings.front());
}

TEST(StragglerTest, StepsThatBecameSlowerOnAllRanks) {
  FakeTraining job{.steps = 100};
  expect_clean(verdict_of(job));
  job.delay = [](int, int step) { return step >= 50 ? 30.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  const Finding& finding = verdict.findings.front();
  EXPECT_TRUE(finding.ranks.empty());
  // The first slow step, or the one after it: where two medians part is known to a step.
  EXPECT_TRUE(says(finding, "slower since step 50") || says(finding, "slower since step 51")) << all_of(finding);
  EXPECT_TRUE(says(finding, "all ranks became slower together")) << all_of(finding);
}

TEST(StragglerTest, ARankThatBecameSlowIsNamedWithTheTime) {
  FakeTraining job{.steps = 100};
  job.delay = [](int rank, int step) { return rank == 0 && step >= 60 ? 50.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  EXPECT_EQ(verdict.findings.front().ranks, std::vector<std::int32_t>{0});
  EXPECT_TRUE(says(verdict.findings.front(), "steps are slower since step 60")) << all_of(verdict.findings.front());
}

TEST(StragglerTest, ASingleStallNamesStepAndRank) {
  FakeTraining job{.ranks = 3};
  job.delay = [](int rank, int step) { return rank == 1 && step == 25 ? 1500.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kInconclusive) << verdict.reason;
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  EXPECT_TRUE(says(finding, "step 25 took 1.6 s instead of 10")) << all_of(finding);
}

TEST(StragglerTest, AStallOfAllRanksNamesNone) {
  FakeTraining job;
  job.delay = [](int, int step) { return step == 25 ? 1500.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kInconclusive) << verdict.reason;
  EXPECT_TRUE(verdict.findings.front().ranks.empty());
  EXPECT_TRUE(says(verdict.findings.front(), "all ranks were slow")) << all_of(verdict.findings.front());
}

TEST(StragglerTest, ALongStepInALongRunIsAWordInTheReason) {
  FakeTraining job{.steps = 600, .records_work = false};
  job.delay = [](int rank, int step) { return rank == 0 && step == 300 ? 1500.0 : 0.0; };
  const Verdict verdict = verdict_of(job);
  expect_clean(verdict);
  EXPECT_NE(verdict.reason.find("1 single steps were long"), std::string::npos) << verdict.reason;
}

TEST(StragglerTest, WarmUpIsNotJudged) {
  FakeTraining job;
  job.delay = [](int rank, int step) { return step < 5 ? 3000.0 * (rank + 1) : 0.0; };
  expect_clean(verdict_of(job));
}

TEST(StragglerTest, ScatterThatFavoursNobodyIsNoStraggler) {
  expect_clean(verdict_of(FakeTraining{.ranks = 8, .scatter = 30}));
}

TEST(StragglerTest, TooFewStepsAreInconclusive) {
  const Verdict verdict = verdict_of(FakeTraining{.steps = 8});
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_NE(verdict.reason.find("too few"), std::string::npos) << verdict.reason;
}

TEST(StragglerTest, WhatABusyMachineExplainsIsUndecided) {
  FakeTraining job{.ranks = 4};
  job.delay = [](int rank, int) { return rank == 2 ? 60.0 : 0.0; };
  job.processor_wait = [](int rank, double) { return rank == 2 ? 350.0 : 200.0; };
  const Verdict verdict = verdict_of(job);
  EXPECT_EQ(verdict.status, Status::kInconclusive) << verdict.reason;
  EXPECT_TRUE(says(verdict.findings.front(), "for a processor")) << all_of(verdict.findings.front());
  // A rank that is late by more than that is slow, busy machine or not.
  job.processor_wait = [](int, double) { return 100.0; };
  EXPECT_EQ(verdict_of(job).status, Status::kFail);
}

TEST(StragglerTest, ABusyHostAmongIdleOnesIsAtFault) {
  FakeTraining job{.ranks = 4};
  job.options = on_host;
  job.elements = [](int, int) { return std::uint64_t{1000}; };
  job.delay = [](int rank, int step) { return rank >= 2 ? 60.0 + (step + rank) % 2 * 5 : 0.0; };
  job.processor_wait = [](int rank, double) { return rank >= 2 ? 400.0 : 5.0; };
  const Verdict verdict = verdict_of(job);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  EXPECT_TRUE(says(verdict.findings.front(), "on this host, and not on the others"))
      << all_of(verdict.findings.front());
}

TEST(StragglerTest, ALoadThatBeginsInTheMiddleIsNoSlowdownOfTheJob) {
  FakeTraining job{.steps = 100};
  job.delay = [](int, int step) { return step >= 50 ? 60.0 : 0.0; };
  EXPECT_EQ(verdict_of(job).status, Status::kFail);
  job.processor_wait = [](int, double seconds) { return seconds < 5.5 ? 10.0 : 400.0; };
  EXPECT_EQ(verdict_of(job).status, Status::kInconclusive);
}

TEST(StragglerTest, ALoadThatExplainsLittleOfASlowdownDoesNotExcuseIt) {
  FakeTraining job{.steps = 100};
  job.delay = [](int, int step) { return step >= 50 ? 300.0 : 0.0; };
  // A tenth of a step of 400 ms, of the 300 ms that it became longer by.
  job.processor_wait = [](int, double seconds) { return seconds < 5.5 ? 10.0 : 100.0; };
  EXPECT_EQ(verdict_of(job).status, Status::kFail);
}

TEST(StragglerTest, StepsThatAskForMoreHaveMoreToDo) {
  FakeTraining job{.steps = 100};
  job.delay = [](int, int step) { return step >= 50 ? 60.0 : 0.0; };
  EXPECT_FALSE(says(verdict_of(job).findings.front(), "more to do"));
  job.tensor_bytes = [](int step) { return step >= 50 ? std::uint64_t{6144} : std::uint64_t{4096}; };
  const Verdict verdict = verdict_of(job);
  EXPECT_TRUE(says(verdict.findings.front(), "asks for 50 % more memory than before: it has more to do"))
      << all_of(verdict.findings.front());
}

TEST(StragglerTest, WithoutCollectivesItIsNotEvaluated) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (int step = 0; step < 40; ++step) rank.step(100 * step, 100 * step + 5);
  rank.exit(0);
  EXPECT_EQ(verdict_of(directory).status, Status::kNotEvaluated);
}

TEST(StragglerTest, ASingleRankCannotBeLate) {
  EXPECT_EQ(verdict_of(FakeTraining{.ranks = 1}).status, Status::kNotEvaluated);
}

TEST(StragglerTest, WhatTheLateRankDidIsTold) {
  FakeTraining job;
  job.delay = [](int rank, int) { return rank == 1 ? 250.0 : 0.0; };
  job.during = [](FakeRank& rank, int, double from, double to) {
    rank.range(from, to, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  };
  EXPECT_TRUE(says(verdict_of(job).findings.front(), "waited for its data loader"));
  job.during = [](FakeRank& rank, int, double from, double to) { rank.garbage_collection(to, to - from); };
  EXPECT_TRUE(says(verdict_of(job).findings.front(), "it collected Python's garbage for 250"));
  EXPECT_TRUE(says(verdict_of(job).findings.front(), "gc.freeze()"));
  job.during = [](FakeRank& rank, int, double from, double to) {
    for (double at = from; at < to; at += 5) rank.alloc(at, 0x100000 + static_cast<std::uint64_t>(at), 64);
  };
  EXPECT_TRUE(says(verdict_of(job).findings.front(), "it computed"));
}

}  // namespace
}  // namespace plumbline::checks
