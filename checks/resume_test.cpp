#include <gtest/gtest.h>

#include "checks/resume_optimizer.hpp"
#include "checks/state_checks.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::DType;
using reader::NamedValue;
using reader::Scalar;
using reader::testing::checkpoint_of;
using reader::testing::tensor;
using reader::testing::tensor_of;
using reader::testing::TensorData;

std::vector<TensorData> tensors(float step, DType step_type = DType::kF32) {
  return {tensor("model.w", {4, 4}, 1), tensor("optimizer.state.0.exp_avg", {4, 4}, 2),
          tensor("optimizer.state.0.exp_avg_sq", {4, 4}, 3), tensor_of("optimizer.state.0.step", {}, {step}, step_type),
          tensor("rng.torch", {16}, 4)};
}

std::vector<NamedValue> values() {
  return {{"optimizer.param_groups.0.lr", Scalar(0.001)},
          {"optimizer.param_groups.0.betas.0", Scalar(0.9)},
          {"optimizer.param_groups.0.betas.1", Scalar(0.999)},
          {"optimizer.param_groups.0.params.0", Scalar(std::int64_t{0})},
          {"optimizer.param_groups.1.lr", Scalar(0.0001)},
          {"optimizer.param_groups.1.betas.0", Scalar(0.9)},
          {"optimizer.param_groups.1.betas.1", Scalar(0.999)},
          {"scheduler.last_epoch", Scalar(std::int64_t{8})},
          {"scaler.scale", Scalar(65536.0)},
          {"dataloader.rows_seen", Scalar(std::int64_t{640})},
          {"note", Scalar(std::string("x"))}};
}

Verdict resumed(std::vector<TensorData> mine, std::vector<NamedValue> mine_values, float saved_step = 8) {
  const Checkpoint subject = checkpoint_of(std::move(mine), std::move(mine_values));
  Checkpoint reference = checkpoint_of(tensors(saved_step), values());
  for (reader::Tensor& one : reference.tensors) one.section_size = one.name.rfind('.') + 1;
  return check_resume({&subject, &reference, nullptr});
}

Verdict with_value(const std::string& name, Scalar value) {
  std::vector<NamedValue> mine = values();
  for (NamedValue& one : mine) {
    if (one.name == name) one.value = value;
  }
  return resumed(tensors(8), mine);
}

TEST(ResumeTest, TheSavedStatePasses) {
  const Verdict verdict = resumed(tensors(8), values());
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.reason;
  EXPECT_EQ(verdict.reason, "5 tensors and 11 values of the saved state are there again, bit for bit");
}

TEST(ResumeTest, MomentsThatAreAbsent) {
  std::vector<TensorData> mine = tensors(8);
  mine.erase(mine.begin() + 1, mine.begin() + 4);
  const Verdict verdict = resumed(mine, values());
  EXPECT_EQ(verdict.reason,
            "after resume exp_avg/exp_avg_sq are absent and there is no step while the file has them (2 of 2 "
            "state tensors, step 8); first update = lr·sign(g)");
}

TEST(ResumeTest, MomentsThatAreZero) {
  std::vector<TensorData> mine = tensors(0);
  for (std::size_t i : {1U, 2U}) mine[i] = tensor_of(mine[i].name, {4, 4}, std::vector<float>(16, 0));
  const Verdict verdict = resumed(mine, values());
  EXPECT_EQ(verdict.reason,
            "after resume exp_avg/exp_avg_sq are zero and step=0 while the file has them (2 of 2 state "
            "tensors, step 8); first update = lr·sign(g)");
}

TEST(ResumeTest, AStepCounterThatIsReset) {
  const Verdict verdict = resumed(tensors(0), values(), 1000);
  EXPECT_EQ(verdict.reason,
            "step is 0 after the resume, 1000 at the save; with the moments kept, the first update is 0.398 "
            "times the right one (1 parameter)");
}

TEST(ResumeTest, TheFirstUpdateAfterAReset) {
  EXPECT_NEAR(update_ratio(1000, 0, 0.9, 0.999), 0.398, 0.001);
  EXPECT_NEAR(update_ratio(100000, 0, 0.9, 0.98), 1.414, 0.001);
  EXPECT_NEAR(update_ratio(100000, 0, 0.9, 0.95), 2.236, 0.001);
  EXPECT_EQ(update_ratio(8, 8, 0.9, 0.999), 1.0);
}

TEST(ResumeTest, AStepCounterInLowPrecision) {
  EXPECT_NE(
      resumed(tensors(10000, DType::kBF16), values(), 10000).reason.find("step went through BF16: 10000 became 9984"),
      std::string::npos);
  EXPECT_NE(resumed(tensors(257, DType::kBF16), values(), 257).reason.find("257 became 256"), std::string::npos);
  EXPECT_NE(resumed(tensors(8, DType::kBF16), values()).status, Status::kFail)
      << "its type alone changes nothing as long as it can count";
}

TEST(ResumeTest, AStepCounterThatWasSavedInLowPrecision) {
  const Checkpoint both = checkpoint_of(tensors(10000, DType::kBF16), values());
  const Verdict verdict = check_resume({&both, &both, nullptr});
  EXPECT_NE(verdict.reason.find("step is saved in BF16, which holds whole numbers up to 256 only"), std::string::npos);
}

TEST(ResumeTest, GroupsFieldByField) {
  EXPECT_EQ(
      with_value("optimizer.param_groups.0.lr", Scalar(0.0001)).reason,
      "the learning rate (lr) of group 0 is 1e-04 after the resume, 0.001 at the save, which is what group 1 had");
  std::vector<NamedValue> one_group = values();
  one_group.erase(one_group.begin() + 4, one_group.begin() + 7);
  EXPECT_EQ(resumed(tensors(8), one_group).reason,
            "the optimizer has 1 param group after the resume, 2 param groups at the save");
}

TEST(ResumeTest, ScheduleScalerAndData) {
  EXPECT_EQ(
      with_value("scheduler.last_epoch", Scalar(std::int64_t{0})).reason,
      "the learning rate schedule is not that of the save: scheduler.last_epoch is 0 after the resume, 8 at the save");
  EXPECT_NE(with_value("scaler.scale", Scalar(2.0)).reason.find("the gradient scaler is not that of the save"),
            std::string::npos);
  EXPECT_NE(with_value("dataloader.rows_seen", Scalar(std::int64_t{0})).reason.find("640 are done twice"),
            std::string::npos);
  EXPECT_NE(with_value("dataloader.rows_seen", Scalar(std::int64_t{642})).reason.find("2 are never done"),
            std::string::npos);
}

TEST(ResumeTest, WhatIsNotKnownToMatterIsLeftOpen) {
  EXPECT_EQ(with_value("note", Scalar(std::string("y"))).status, Status::kInconclusive);
}

TEST(ResumeTest, ParametersAndRandomState) {
  std::vector<TensorData> mine = tensors(8);
  mine[0] = tensor("model.w", {4, 4}, 9);
  mine[4] = tensor("rng.torch", {16}, 9);
  const Verdict verdict = resumed(mine, values());
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_NE(verdict.findings[0].title.find("1 of 1 tensor of the resumed state"), std::string::npos);
  EXPECT_EQ(verdict.findings[1].title, "the random state is not that of the save: rng.torch differs");
}

TEST(ResumeTest, AWholePartThatIsMissing) {
  std::vector<NamedValue> mine = values();
  mine.erase(mine.begin() + 8);
  EXPECT_EQ(resumed(tensors(8), mine).reason, "scaler is not in the resumed state; the file has 1 value of it");
}

TEST(ResumeTest, WithoutAStateNothingIsSaid) {
  const Checkpoint empty = checkpoint_of({});
  EXPECT_EQ(check_resume({&empty, &empty, nullptr}).status, Status::kNotEvaluated);
}

}  // namespace
}  // namespace plumbline::checks
