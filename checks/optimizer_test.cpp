#include "checks/optimizer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "checks/element_values.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/toy_training.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Dtype;
using testing::CaptureJob;
using testing::said;
using testing::ToyParameter;
using testing::ToyTraining;

Verdict verdict_of(const ToyTraining& toy, OptimizerMargins* margins = nullptr) {
  const TempDir directory;
  testing::write_trace(directory.path());
  toy.write(directory.path());
  const reader::Run run = open_run(directory.path());
  OptimizerMargins unused;
  return check_optimizer(Subject(run), margins != nullptr ? *margins : unused);
}

void expect_title(const ToyTraining& toy, const std::string& title) {
  const Verdict verdict = verdict_of(toy);
  ASSERT_FALSE(verdict.findings.empty()) << verdict.reason;
  EXPECT_EQ(verdict.findings.front().title, title) << said(verdict);
  EXPECT_FALSE(verdict.findings.front().next.empty());
  EXPECT_FALSE(verdict.findings.front().evidence.empty());
}

TEST(OptimizerTest, ANameThatPyTorchHasTooIsNoFormula) {
  const TempDir directory;
  testing::write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  job.step_note(0, "Adafactor", {R"({"settings":{"lr":0.1},"params":["w"]})"}, "transformers.optimization");
  for (const char* probe : {"grad", "param.before", "param.after"})
    job.tensor(probe, "w", 0, Dtype::kFloat32, {2}, testing::bytes_of(std::vector<float>{1, 2}));
  job.finish();
  const Verdict verdict = testing::verdict_of(check_optimizer, directory);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_FALSE(verdict.unknown.empty());
  EXPECT_EQ(verdict.unknown[0], "updates of Adafactor of transformers.optimization: its formula is not known");
}

TEST(OptimizerTest, RightUpdatesPassAndTheFaultsOfTheCheckItselfAreCaught) {
  OptimizerMargins margins;
  const Verdict verdict = verdict_of(ToyTraining{}, &margins);
  EXPECT_EQ(verdict.status, Status::kPass) << said(verdict);
  EXPECT_EQ(margins.tensors, 8u);
  EXPECT_GT(margins.largest_agreeing, 0.01);
  EXPECT_LT(margins.largest_agreeing, 1);
}

TEST(OptimizerTest, ARunWithoutCapturesIsNotEvaluated) {
  const TempDir directory;
  testing::write_trace(directory.path());
  EXPECT_EQ(testing::verdict_of(check_optimizer, directory).status, Status::kNotEvaluated);
}

TEST(OptimizerTest, AnotherLearningRateIsSolvedFor) {
  expect_title({.lr_used = 2e-3, .fault_from = 2},
               "step 2, rank 0: layer.weight was updated with learning rate 0.002; its group says 0.001 (2 x)");
}

TEST(OptimizerTest, BiasCorrectionOfAnotherStep) {
  expect_title(
      {.correction_offset = 1, .fault_from = 1, .fault_in = "head.weight"},
      "step 1, rank 0: head.weight was updated with the bias correction of its step 3; its own counter says 2");
  expect_title({.corrects_bias = false}, "step 0, rank 0: layer.weight was updated without bias correction");
}

TEST(OptimizerTest, AClassOfTheJobsOwnMayHaveAnotherFormula) {
  const ToyTraining plain{.module = "train", .corrects_bias = false};
  EXPECT_EQ(verdict_of(plain).status, Status::kInconclusive);
  expect_title(plain, "step 0, rank 0: layer.weight was updated without bias correction");
  EXPECT_EQ(verdict_of({.module = "train", .correction_offset = 1, .fault_from = 1}).status, Status::kFail);
}

TEST(OptimizerTest, BetasThatAreTensorsGiveCoefficientsOfTheirPrecision) {
  const double beta1 = 0.9F;
  const double beta2 = 0.99F;
  ToyTraining toy{.beta1 = beta1, .beta2 = beta2};
  toy.in_float32 = true;
  EXPECT_EQ(verdict_of(toy).status, Status::kPass) << said(verdict_of(toy));
}

TEST(OptimizerTest, WeightDecayThatIsNotTheGroups) {
  expect_title({.weight_decay_used = 0},
               "step 0, rank 0: layer.weight was updated without weight decay; its group says 0.1");
  ToyTraining more{.weight_decay_used = 0.5};
  expect_title(more, "step 0, rank 0: layer.weight was updated with weight decay 0.5; its group says 0.1");
}

TEST(OptimizerTest, AGradientThatWasScaledInsideOfTheStep) {
  expect_title({.gradient_factor = 4, .fault_from = 1},
               "step 1, rank 0: layer.weight was updated by 4 x the gradient that the step was given");
  expect_title({.gradient_factor = -1},
               "step 0, rank 0: layer.weight was moved along the gradient, with maximize=False");
}

TEST(OptimizerTest, AnUpdateThatWasAppliedTwiceOrNotAtAll) {
  expect_title({.times = 2, .fault_from = 1},
               "step 1, rank 0: layer.weight was updated twice in one step, from the same gradient");
  ToyTraining undone;
  std::vector<float> kept;
  undone.before_step = [&](int, ToyParameter& p) {
    if (p.name == "head.weight") kept = p.values;
  };
  undone.after_update = [&](int, ToyParameter& p) {
    if (p.name == "head.weight") p.values = kept;
  };
  expect_title(undone,
               "step 0, rank 0: head.weight did not change, though its state did: the update went elsewhere, or "
               "was undone");
}

TEST(OptimizerTest, OneElementBeyondItsBoundIsFound) {
  ToyTraining toy;
  toy.after_update = [](int step, ToyParameter& p) {
    if (step == 3 && p.name == "head.weight") p.values[5] += 1e-6F;
  };
  const Verdict verdict = verdict_of(toy);
  ASSERT_EQ(verdict.findings.size(), 1u) << said(verdict);
  EXPECT_EQ(verdict.findings[0].title, "step 3, rank 0: head.weight is not what gradient, state and settings give");
  EXPECT_EQ(verdict.findings[0].details[0].find("1 of 16 elements of the parameter are outside"), 0u) << said(verdict);
}

TEST(OptimizerTest, NumbersOfANarrowerType) {
  ToyTraining toy;
  toy.after_update = [](int, ToyParameter& p) {
    for (float& value : p.values) value = static_cast<float>(rounded_to(Dtype::kBfloat16, value));
  };
  expect_title(toy, "step 0, rank 0: layer.weight holds numbers of bfloat16 after the step, in a float32 tensor");
}

TEST(OptimizerTest, StateThatSomethingElseTouchedBetweenTheSteps) {
  ToyTraining reset;
  reset.before_step = [](int step, ToyParameter& p) {
    if (step == 2) std::fill(p.m.begin(), p.m.end(), 0.0F);
  };
  expect_title(reset,
               "step 2, rank 0: layer.weight has exp_avg of zeros before the step: its state was made anew since "
               "step 1");
  ToyTraining narrow;
  narrow.before_step = [](int step, ToyParameter& p) {
    if (step != 2) return;
    for (float& value : p.v) value = static_cast<float>(rounded_to(Dtype::kBfloat16, value));
  };
  expect_title(narrow, "step 2, rank 0: layer.weight has its exp_avg_sq rounded to bfloat16 since step 1");
  ToyTraining counter;
  counter.before_step = [](int step, ToyParameter& p) {
    if (step == 2) p.counter = 0;
  };
  expect_title(counter, "step 2, rank 0: layer.weight has step counter 0 before the step; step 1 left 2");
  ToyTraining lost;
  lost.before_step = [](int step, ToyParameter& p) {
    if (step == 2) p.m.clear();
  };
  expect_title(lost, "step 2, rank 0: layer.weight has lost its state exp_avg since step 1");
}

TEST(OptimizerTest, AResumeWithMomentsButWithoutTheCounter) {
  ToyTraining toy;
  toy.before_step = [](int step, ToyParameter& p) {
    if (step == 0) {
      p.m.assign(p.values.size(), 0.1F);
      p.v.assign(p.values.size(), 0.01F);
    }
  };
  expect_title(toy,
               "step 0, rank 0: layer.weight has step counter 0, though its exp_avg holds the gradients of earlier "
               "steps");
  toy.before_step = [](int step, ToyParameter& p) {
    if (step != 0) return;
    p.m.assign(p.values.size(), 0);
    p.v.assign(p.values.size(), 0);
    p.counter = 8;
  };
  expect_title(toy, "step 0, rank 0: layer.weight has empty moments, though its step counter says 8");
}

TEST(OptimizerTest, FrozenOnesThatChangeAndOnesThatNeverGetAGradient) {
  ToyTraining frozen;
  frozen.before_step = [](int, ToyParameter& p) { p.requires_grad = p.name != "head.weight"; };
  expect_title(frozen, "step 0, rank 0: head.weight changed in the step, though it requires no gradient");
  ToyTraining unused;
  unused.before_step = [](int, ToyParameter& p) { p.has_grad = p.name != "head.weight"; };
  const Verdict of_unused = verdict_of(unused);
  EXPECT_EQ(of_unused.status, Status::kPass) << said(of_unused);
  ASSERT_FALSE(of_unused.unknown.empty());
  EXPECT_NE(of_unused.unknown.back().find("whether head.weight is meant to get no gradient"), std::string::npos);
  // Now and then is what routing does.
  ToyTraining routed;
  routed.before_step = [](int step, ToyParameter& p) { p.has_grad = p.name != "head.weight" || step % 2 == 1; };
  EXPECT_EQ(verdict_of(routed).status, Status::kPass) << said(verdict_of(routed));
}

// One element with a gradient, one whose module ran without any.
TEST(OptimizerTest, ALayerWhoseResultGoesOnWithoutItsGraph) {
  const auto verdict = [](const std::string& detached) {
    const TempDir directory;
    testing::write_trace(directory.path());
    CaptureJob job(directory.path(), 0);
    for (int step = 0; step < 2; ++step) {
      job.note("optimizer.step", "SGD", step,
               R"({"class":"SGD","module":"torch.optim.sgd","detached":)" + detached + "}");
      job.note("optimizer.group", "0", step, R"({"settings":{"lr":0.5},"params":["head.weight","up.weight"]})");
      const std::vector<float> grad{1};
      const std::vector<float> before{1.0F - 0.5F * static_cast<float>(step)};
      const std::vector<float> after{before[0] - 0.5F};
      job.tensor("grad", "head.weight", step, Dtype::kFloat32, {1}, testing::bytes_of(grad));
      job.tensor("param.before", "head.weight", step, Dtype::kFloat32, {1}, testing::bytes_of(before));
      job.tensor("param.after", "head.weight", step, Dtype::kFloat32, {1}, testing::bytes_of(after));
      job.tensor("param.before", "up.weight", step, Dtype::kFloat32, {1}, testing::bytes_of(grad));
      job.tensor("param.after", "up.weight", step, Dtype::kFloat32, {1}, testing::bytes_of(grad));
    }
    job.finish();
    return testing::verdict_of(check_optimizer, directory);
  };
  const Verdict detached = verdict(R"({"up.weight":"norm"})");
  ASSERT_EQ(detached.findings.size(), 1u) << said(detached);
  EXPECT_EQ(
      detached.findings[0].title,
      "step 0, rank 0: up.weight gets no gradient: its module ran, and norm was given the result without its graph");
  EXPECT_EQ(verdict("{}").status, Status::kPass) << said(verdict("{}"));
}

// Sines in bfloat16, of which a plain step takes the learning rate.
Verdict of_bfloat16(double lr, double amplitude = 0.02) {
  const TempDir directory;
  testing::write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  job.step_note(0, "SGD", {fmt::format(R"({{"settings":{{"lr":{}}},"params":["w"]}})", lr)});
  std::vector<double> before;
  std::vector<double> after;
  for (int i = 0; i < 1000; ++i) {
    before.push_back(rounded_to(Dtype::kBfloat16, amplitude * std::sin(i * 0.7 + 0.1)));
    after.push_back(rounded_to(Dtype::kBfloat16, before.back() - lr));
  }
  job.tensor("grad", "w", 0, Dtype::kBfloat16, {1000}, testing::bfloat16_bytes(std::vector<double>(1000, 1.0)));
  job.tensor("param.before", "w", 0, Dtype::kBfloat16, {1000}, testing::bfloat16_bytes(before));
  job.tensor("param.after", "w", 0, Dtype::kBfloat16, {1000}, testing::bfloat16_bytes(after));
  job.finish();
  return testing::verdict_of(check_optimizer, directory);
}

TEST(OptimizerTest, UpdatesThatBfloat16CannotHold) {
  const Verdict verdict = of_bfloat16(1e-5);
  ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
  EXPECT_NE(verdict.findings[0].title.find("% of the entries of bfloat16 parameters did not change although"),
            std::string::npos)
      << said(verdict);
}

// An entry does not change where half a unit in its last place is more than the update: above 2^-6 that is 2^-14 =
// 6.1e-5. Of sines of 0.016 a share of 1 - 2 / pi * asin(2^-6 / 0.016) = 0.138 is above.
TEST(OptimizerTest, APartOfTheUpdatesIsARemark) {
  const Verdict verdict = of_bfloat16(5e-5, 0.016);
  EXPECT_TRUE(verdict.findings.empty()) << said(verdict);
  ASSERT_EQ(verdict.unknown.size(), 1U);
  const std::string words = "whether a part of the updates may be lost: in step 0 of SGD, optimizer 0, ";
  ASSERT_EQ(verdict.unknown[0].find(words), 0U) << verdict.unknown[0];
  const double share = std::stod(verdict.unknown[0].substr(words.size()));
  EXPECT_NEAR(share, 13.8, 1.5);
  EXPECT_TRUE(of_bfloat16(7e-5, 0.016).unknown.empty());
}

std::string group(double weight_decay) {
  return R"({"settings":{"lr":0.1,"weight_decay":)" + std::to_string(weight_decay) + R"(},"params":[]})";
}

void plain(CaptureJob& job, const std::string& name, const std::vector<std::uint64_t>& shape, int in_group,
           const std::string& module) {
  const std::size_t count = shape.size() == 2 ? shape[0] * shape[1] : shape[0];
  const std::vector<float> ones(count, 1.0F);
  const double decay = in_group == 0 ? 0.25 : 0;
  const std::vector<float> after(count, static_cast<float>(1 - 0.1 * (1 + decay)));
  testing::TensorPlace place;
  place.detail = R"({"group":)" + std::to_string(in_group) + R"(,"module":")" + module + R"("})";
  job.tensor("grad", name, 0, Dtype::kFloat32, shape, testing::bytes_of(ones), place);
  job.tensor("param.before", name, 0, Dtype::kFloat32, shape, testing::bytes_of(ones), place);
  job.tensor("param.after", name, 0, Dtype::kFloat32, shape, testing::bytes_of(after), place);
}

Verdict grouped(int weight, int bias, int norm) {
  const TempDir directory;
  testing::write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  job.step_note(0, "SGD", {group(0.25), group(0)});
  plain(job, "fc.weight", {2, 2}, weight, "Linear");
  plain(job, "fc.bias", {2}, bias, "Linear");
  plain(job, "norm.weight", {2}, norm, "LayerNorm");
  job.finish();
  return testing::verdict_of(check_optimizer, directory);
}

TEST(OptimizerTest, WeightDecayInTheWrongGroup) {
  EXPECT_EQ(grouped(0, 1, 1).status, Status::kPass) << said(grouped(0, 1, 1));
  const Verdict swapped = grouped(1, 0, 0);
  ASSERT_EQ(swapped.status, Status::kFail);
  EXPECT_EQ(
      swapped.findings[0].title,
      "step 0, rank 0: the groups' weight decay is swapped: vectors (biases, norms) are decayed, matrices are not");
  const Verdict left_out = grouped(0, 1, 0);
  ASSERT_FALSE(left_out.findings.empty());
  EXPECT_EQ(
      left_out.findings[0].title,
      "step 0, rank 0: norm.weight is decayed by 0.25, though a group without weight decay holds 1 other vectors");
}

}  // namespace
}  // namespace plumbline::checks
