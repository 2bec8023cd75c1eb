#include "checks/resume_steps.hpp"

#include <gtest/gtest.h>

#include "checks/testing/toy_training.hpp"
#include "checks/testing/verdicts.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::said;
using testing::ToyParameter;
using testing::ToyTraining;

// A run of eight steps, and one that was resumed from it before step 4.
Verdict verdict_of(const ToyTraining& resumed, const ToyTraining& reference = {.steps = 8}) {
  const TempDir mine;
  const TempDir theirs;
  resumed.write(mine.path());
  reference.write(theirs.path());
  auto a = reader::RunCaptures::open(mine.path());
  auto b = reader::RunCaptures::open(theirs.path());
  EXPECT_TRUE(a.ok() && b.ok());
  return check_resumed_steps(*a, *b);
}

ToyTraining resumed() { return {.steps = 8, .from = 4}; }

TEST(ResumeStepsTest, TheSameStepsPass) {
  const Verdict verdict = verdict_of(resumed());
  EXPECT_EQ(verdict.status, Status::kPass) << said(verdict);
  EXPECT_EQ(verdict.reason, "4 captured steps after the resume equal those of the reference bit for bit");
}

TEST(ResumeStepsTest, MomentsThatWereLost) {
  ToyTraining toy = resumed();
  toy.before_step = [](int step, ToyParameter& p) {
    if (step != 4) return;
    p.m.clear();
    p.v.clear();
    p.counter = 0;
  };
  const Verdict verdict = verdict_of(toy);
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(
      verdict.reason,
      "step 0 (step 4 of the reference), rank 0: goes on from another state of the optimizer: its first update is "
      "lr·sign(g), as of a new one");
  EXPECT_NE(said(verdict).find("exp_avg is absent before the step for 2 parameters"), std::string::npos)
      << said(verdict);
}

// The moments are kept: the first update is off by the bias corrections alone. After t = 5 steps in all, in place of 1,
//   sqrt((1 - beta2) / (1 - beta2^t)) * (1 - beta1^t) / (1 - beta1)
//   = sqrt(0.001 / 0.0049900) * 0.40951 / 0.1 = 0.44766 * 4.0951 = 1.833
TEST(ResumeStepsTest, AStepCounterThatWasReset) {
  ToyTraining toy = resumed();
  toy.weight_decay = 0;
  ToyTraining reference{.steps = 8};
  reference.weight_decay = 0;
  toy.before_step = [](int step, ToyParameter& p) {
    if (step == 4) p.counter = 0;
  };
  const Verdict verdict = verdict_of(toy, reference);
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(said(verdict).find("step differs before the step for 2 parameters"), std::string::npos) << said(verdict);
  EXPECT_NE(said(verdict).find("the update is 1.833 times the reference"), std::string::npos) << said(verdict);
}

TEST(ResumeStepsTest, OtherGradients) {
  ToyTraining toy = resumed();
  toy.before_step = [](int step, ToyParameter& p) {
    if (step == 6 && p.name == "head.weight") p.grad[0] = -p.grad[0];
  };
  const Verdict verdict = verdict_of(toy);
  EXPECT_EQ(verdict.reason.find("step 2 (step 6 of the reference), rank 0: computes other gradients"), 0U)
      << said(verdict);
  EXPECT_NE(said(verdict).find("first: head.weight"), std::string::npos);
}

TEST(ResumeStepsTest, AnotherUpdate) {
  ToyTraining toy = resumed();
  toy.lr_used = 2e-3;
  toy.fault_from = 5;
  const Verdict verdict = verdict_of(toy);
  EXPECT_EQ(verdict.reason.find("step 1 (step 5 of the reference), rank 0: updates otherwise"), 0U) << said(verdict);
}

TEST(ResumeStepsTest, OtherSettings) {
  ToyTraining toy = resumed();
  toy.weight_decay = 0.1;
  toy.lr = 1e-3;
  ToyTraining reference{.steps = 8};
  reference.weight_decay = 0.1 + 1e-9;  // too little to show in float32
  const Verdict verdict = verdict_of(toy, reference);
  EXPECT_EQ(verdict.reason.find("step 0 (step 4 of the reference), rank 0: uses other settings: weight decay"), 0U)
      << said(verdict);
}

TEST(ResumeStepsTest, NothingThatFitsIsInconclusive) {
  EXPECT_EQ(verdict_of({.steps = 2, .seed = 9}).status, Status::kInconclusive);
}

TEST(ResumeStepsTest, TheWorseVerdictLeads) {
  Verdict pass, fail;
  pass.status = Status::kPass;
  fail.status = Status::kFail;
  fail.findings.emplace_back().title = "x";
  EXPECT_EQ(joined_verdict(pass, fail).status, Status::kFail);
  EXPECT_EQ(joined_verdict(fail, pass).findings.size(), 1U);
  EXPECT_EQ(joined_verdict(pass, {}).status, Status::kPass);
  EXPECT_EQ(joined_verdict({}, fail).status, Status::kFail);
}

}  // namespace
}  // namespace plumbline::checks
