#include "checks/schedules.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Dtype;
using testing::CaptureJob;

struct Scheduled {
  int steps = 100;
  int moves = 1;  // after each step
  int length = 100;
  bool says_length = true;
  std::string optimizer = "0";
  std::string same_parameters = "null";
  std::string base = "[0.01]";
  std::string initial = "[0.01]";
  double group_lr = -1;  // below 0: as the schedule says
};

double rate(const Scheduled& job, int epoch) {
  return 0.01 * std::max(0.0, 1 - epoch / static_cast<double>(job.length));
}

struct Said {
  std::vector<Finding> findings;
  std::set<std::string> remarks;
  std::string title() const { return findings.empty() ? "" : findings.front().title; }
};

// A training whose learning rate falls to zero in a line.
Said said_of(const Scheduled& training) {
  const TempDir directory;
  testing::write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  int epoch = 0;
  const std::vector<float> one{1};
  for (int step = 0; step < training.steps; ++step) {
    job.tensor("backward.loss", "", step, Dtype::kFloat32, {}, testing::bytes_of(one));
    const double lr = training.group_lr >= 0 ? training.group_lr : rate(training, epoch);
    job.step_note(step, "SGD",
                  {fmt::format(R"({{"settings":{{"lr":{}}},"params":["w"]}})", lr), R"({"params":["v"]})"});
    job.tensor("param.before", "w", step, Dtype::kFloat32, {1}, testing::bytes_of(one));
    for (int move = 0; move < training.moves; ++move) {
      const double before = rate(training, epoch);
      ++epoch;
      job.note("schedule", "LambdaLR", step + 1,
               fmt::format(R"({{"class":"LambdaLR","schedule":3,"last_epoch":{},"horizon":{},"optimizer":{},)"
                           R"("same_parameters":{},"before":[{}],"lr":[{},0.5],"initial_lr":{},"base_lr":{}}})",
                           epoch, training.says_length ? std::to_string(training.length) : "null", training.optimizer,
                           training.same_parameters, before, rate(training, epoch), training.initial, training.base));
    }
  }
  job.finish();
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  Said said;
  Observations observations;
  examine_schedules(subject, captured_steps(subject.captures()), observations, said.remarks);
  said.findings = observations.findings(subject);
  return said;
}

TEST(SchedulesTest, OneStepAtATimeIsSilent) {
  const Said said = said_of({});
  EXPECT_TRUE(said.findings.empty());
  EXPECT_TRUE(said.remarks.empty());
}

TEST(SchedulesTest, StepsForEachProcess) {
  const Said twice = said_of({.moves = 2});
  EXPECT_EQ(twice.title(),
            "step 1, rank 0: lr moved through 2 schedule steps per optimizer step; lr hits 0 at step 50 of 100");
  EXPECT_EQ(twice.findings[0].details[0], "LambdaLR has 100 steps, and 100 optimizer steps were taken");
  EXPECT_EQ(said_of({.moves = 4}).title(),
            "step 1, rank 0: lr moved through 4 schedule steps per optimizer step; lr hits 0 at step 25 of 100");
  // Seen by the learning rate alone where the schedule does not say its length.
  EXPECT_EQ(said_of({.moves = 2, .says_length = false}).title(), twice.title());
}

// A schedule for all micro-batches, or for all processes' batches, moves several times a step, and is as long.
TEST(SchedulesTest, AScheduleThatWasMadeForAllItsMovesIsSilent) {
  const Said said = said_of({.moves = 2, .length = 200});
  EXPECT_TRUE(said.findings.empty());
  EXPECT_TRUE(said.remarks.empty());
}

TEST(SchedulesTest, BeforeItsEndNothingIsSure) {
  const Said said = said_of({.steps = 20, .moves = 2});
  EXPECT_TRUE(said.findings.empty());
  ASSERT_EQ(said.remarks.size(), 1u);
  EXPECT_EQ(*said.remarks.begin(),
            "whether LambdaLR is meant to move 2 steps at each step of the optimizer: it ends at step 50");
}

TEST(SchedulesTest, AScheduleOfAnotherOptimizerObject) {
  const Said said = said_of({.steps = 3, .optimizer = "null", .same_parameters = "0", .group_lr = 0.01});
  EXPECT_EQ(said.title(),
            "step 1, rank 0: lr stays 0.01, though LambdaLR moved it from 0.01 to 0.0099: the schedule holds another "
            "optimizer's groups");
  // One of a model that is not trained here.
  EXPECT_TRUE(said_of({.steps = 3, .optimizer = "null", .group_lr = 0.01}).findings.empty());
}

TEST(SchedulesTest, GroupsThatWereDroppedAfterItWasMade) {
  const Said said = said_of({.steps = 3, .base = "[0.01,0.001,0.0001]", .initial = "[0.01,0.0001]"});
  EXPECT_EQ(
      said.title(),
      "step 1, rank 0: v has a learning rate that is not its own: LambdaLR gives group 1 the learning rate of another "
      "group: 0.5, from 0.001, though its own begins with 0.0001");
  EXPECT_EQ(said.findings[0].details[0], "the schedule was made for 3 groups, and the optimizer has 2");
  // A group that came later is not the schedule's.
  EXPECT_TRUE(said_of({.steps = 3, .base = "[0.01]", .initial = "[0.01,null]"}).findings.empty());
  EXPECT_TRUE(said_of({.steps = 3, .base = "[0.01,0.001]", .initial = "[0.01]"}).findings.empty());
}

}  // namespace
}  // namespace plumbline::checks
