#include "checks/straggler_lasting.hpp"

#include <gtest/gtest.h>

#include "checks/straggler.hpp"
#include "checks/testing/fake_training.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::FakeTraining;

struct Verdicts {
  Verdict lasting;
  Verdict any;  // what the question of its own says
};

Verdicts verdicts_of(const FakeTraining& job) {
  const TempDir directory;
  job.write(directory.path());
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  return {check_lasting_straggler(subject), check_straggler(subject)};
}

// On a machine of its own: threads hardly wait.
FakeTraining quiet_job(int steps = 60) {
  FakeTraining job{.ranks = 4, .steps = steps};
  job.processor_wait = [](int, double) { return 1.0; };
  return job;
}

void expect_told_on_request_only(const FakeTraining& job) {
  const auto [lasting, any] = verdicts_of(job);
  EXPECT_FALSE(any.findings.empty());
  EXPECT_EQ(lasting.status, Status::kPass) << lasting.reason;
  EXPECT_TRUE(lasting.findings.empty()) << lasting.findings.front().title;
  EXPECT_NE(lasting.reason.find("run-reader stragglers"), std::string::npos) << lasting.reason;
}

void expect_told(const FakeTraining& job, std::vector<std::int32_t> ranks) {
  const Verdict lasting = verdicts_of(job).lasting;
  EXPECT_EQ(lasting.status, Status::kFail) << lasting.reason;
  ASSERT_EQ(lasting.findings.size(), 1U);
  EXPECT_EQ(lasting.findings[0].ranks, ranks);
}

TEST(LastingStragglerTest, ARankThatIsSlowForLongIsTold) {
  FakeTraining job = quiet_job();
  job.delay = [](int rank, int) { return rank == 2 ? 60.0 : 0.0; };
  expect_told(job, {2});
}

TEST(LastingStragglerTest, SmallOrShortLossesAreNot) {
  FakeTraining job = quiet_job();
  // 8 % of the time.
  job.delay = [](int rank, int) { return rank == 2 ? 9.0 : 0.0; };
  expect_told_on_request_only(job);
  // 0.6 s in all.
  job = quiet_job(20);
  job.delay = [](int rank, int) { return rank == 2 ? 40.0 : 0.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, NorWhatTheMachineExplains) {
  FakeTraining job = quiet_job();
  job.delay = [](int rank, int) { return rank == 2 ? 60.0 : 0.0; };
  job.processor_wait = [](int, double) { return 400.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, NorAnythingWhereWaitsForAProcessorWereNotRecorded) {
  FakeTraining job = quiet_job();
  job.delay = [](int rank, int) { return rank == 2 ? 60.0 : 0.0; };
  job.processor_wait = [](int, double) { return 0.0; };
  expect_told_on_request_only(job);
  job.delay = [](int, int step) { return step >= 20 ? 300.0 : 0.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, PausesThatMoveAreTheMachinesOnABusyOneUnlessGarbageIsCollected) {
  FakeTraining job = quiet_job(84);
  job.delay = [](int rank, int step) { return step % 7 == 0 && rank == step / 7 % 2 ? 300.0 : 0.0; };
  expect_told(job, {0, 1});
  // Less than explains it by itself, but workers may have waited for longer than the training thread.
  job.processor_wait = [](int, double) { return 70.0; };
  expect_told_on_request_only(job);
  job.during = [](FakeRank& rank, int, double from, double to) { rank.garbage_collection(to, to - from); };
  expect_told(job, {0, 1});
  // Waits that might explain it all: collections that took 300 ms took more than 10 % of the time without them as well.
  job.processor_wait = [](int, double) { return 200.0; };
  expect_told(job, {0, 1});
  job.processor_wait = [](int, double) { return 600.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, ADataLoaderOnABusyMachineIsLaidToTheMachine) {
  FakeTraining job = quiet_job();
  job.delay = [](int rank, int) { return rank == 1 ? 60.0 : 0.0; };
  job.during = [](FakeRank& rank, int, double from, double to) {
    rank.range(from, to, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  };
  job.compute = 20;
  expect_told(job, {1});
  job.processor_wait = [](int, double) { return 70.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, StepsMuchSlowerForLongAreToldUnlessTheyHaveMoreToDo) {
  FakeTraining job = quiet_job(100);
  job.delay = [](int, int step) { return step >= 50 ? 30.0 : 0.0; };
  expect_told_on_request_only(job);
  job.delay = [](int, int step) { return step >= 50 ? 80.0 : 0.0; };
  expect_told(job, {});
  job.tensor_bytes = [](int step) { return step >= 50 ? std::uint64_t{8192} : std::uint64_t{4096}; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, ASingleStallIsNotLasting) {
  FakeTraining job = quiet_job();
  job.delay = [](int rank, int step) { return rank == 1 && step == 25 ? 1500.0 : 0.0; };
  expect_told_on_request_only(job);
}

TEST(LastingStragglerTest, TooFewStepsAreNotEvaluated) {
  const Verdict verdict = verdicts_of(quiet_job(8)).lasting;
  EXPECT_EQ(verdict.status, Status::kNotEvaluated);
  EXPECT_NE(verdict.reason.find("too few"), std::string::npos) << verdict.reason;
}

TEST(LastingStragglerTest, AJobThatKeepsItsPacePasses) {
  const auto [lasting, any] = verdicts_of(quiet_job());
  EXPECT_EQ(lasting.status, Status::kPass);
  EXPECT_EQ(lasting.reason, any.reason);
}

}  // namespace
}  // namespace plumbline::checks
