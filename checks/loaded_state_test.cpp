#include "checks/loaded_state.hpp"

#include <gtest/gtest.h>

#include "checks/state_checks.hpp"
#include "checks/testing/capture_job.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;

// A state whose tensors have two elements each.
Checkpoint state(const std::vector<std::pair<std::string, float>>& tensors) {
  Checkpoint result;
  result.path = "a file";
  for (const auto& [name, value] : tensors) {
    auto bytes = std::make_shared<std::vector<float>>(2, value);
    Tensor tensor;
    tensor.name = name;
    tensor.shape = {2};
    tensor.bytes = std::as_bytes(std::span(*bytes));
    tensor.file = ~std::size_t{0};
    result.tensors.push_back(std::move(tensor));
    result.kept.push_back(std::move(bytes));
  }
  result.sort();
  return result;
}

Verdict verdict_of(const LoadedState& state) { return check_resume({&state.subject, &state.reference}); }

std::vector<std::string> names(const Checkpoint& state) {
  std::vector<std::string> result;
  for (const Tensor& tensor : state.tensors) result.push_back(tensor.name);
  return result;
}

TEST(LoadedStateTest, GoesByTheNamesOfTheFile) {
  const Checkpoint saved = state({{"model.up.weight", 1}, {"optimizer.state.0.exp_avg", 2}, {"rng", 3}});
  const LoadedState found = as_saved(state({{"up.weight", 1}, {"optimizer.state.0.exp_avg", 2}}), saved);
  EXPECT_EQ(names(found.subject), (std::vector<std::string>{"model.up.weight", "optimizer.state.0.exp_avg"}));
  EXPECT_EQ(names(found.reference), names(found.subject));
  EXPECT_EQ(found.unseen, std::vector<std::string>{"rng"});
  EXPECT_EQ(verdict_of(found).status, Status::kPass);
}

TEST(LoadedStateTest, WhatTheModuleLacksIsMissing) {
  const Checkpoint saved = state({{"net.up.weight", 1}, {"net.head.weight", 2}, {"ema.up.weight", 3}});
  const LoadedState found = as_saved(state({{"up.weight", 1}}), saved);
  EXPECT_EQ(found.unseen, std::vector<std::string>{"ema.up.weight"});
  const Verdict verdict = verdict_of(found);
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(verdict.reason.find("net.head.weight"), std::string::npos) << verdict.reason;
}

// A model at the top of the file, with something else beside it.
TEST(LoadedStateTest, AtTheTopOfAFile) {
  const LoadedState found = as_saved(state({{"up.weight", 1}, {"up.bias", 2}}),
                                     state({{"up.weight", 1}, {"up.bias", 2}, {"ema.up.bias", 7}, {"seed", 3}}));
  EXPECT_EQ(names(found.reference), (std::vector<std::string>{"up.bias", "up.weight"}));
  EXPECT_EQ(verdict_of(found).status, Status::kPass);
}

TEST(LoadedStateTest, OfTwoThatFitTheEqualOne) {
  const Checkpoint saved = state({{"ema.up.weight", 5}, {"model.down.weight", 2}, {"model.up.weight", 1}});
  EXPECT_EQ(verdict_of(as_saved(state({{"up.weight", 5}, {"down.weight", 2}}), saved)).status, Status::kPass);
  const Verdict other = verdict_of(as_saved(state({{"up.weight", 4}, {"down.weight", 2}}), saved));
  EXPECT_EQ(other.status, Status::kFail);
  EXPECT_NE(other.reason.find("model.up.weight"), std::string::npos) << other.reason;
}

TEST(LoadedStateTest, NamesOfWrappersComeBetween) {
  const Checkpoint saved = state({{"model._orig_mod.0._checkpoint_wrapped_module.weight", 1}});
  const LoadedState found = as_saved(state({{"0.weight", 1}}), saved);
  EXPECT_EQ(names(found.subject), names(saved));
  EXPECT_EQ(verdict_of(found).status, Status::kPass);
}

// Both have a parameter 0; the file has them in another order.
TEST(LoadedStateTest, TwoOptimizers) {
  const Checkpoint saved = state({{"adam.state.0.exp_avg", 1}, {"muon.state.0.momentum_buffer", 2}});
  const Checkpoint right = state({{"optimizer.state.0.momentum_buffer", 2}, {"optimizer1.state.0.exp_avg", 1}});
  EXPECT_EQ(verdict_of(as_saved(right, saved)).status, Status::kPass);
  const Checkpoint wrong = state({{"optimizer.state.0.momentum_buffer", 3}, {"optimizer1.state.0.exp_avg", 1}});
  const Verdict verdict = verdict_of(as_saved(wrong, saved));
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(verdict.reason.find("muon.state.0.momentum_buffer"), std::string::npos) << verdict.reason;
}

TEST(LoadedStateTest, NoMomentsWereLoaded) {
  const Checkpoint saved =
      state({{"model.w", 1}, {"optimizer.state.0.exp_avg", 2}, {"optimizer.state.0.exp_avg_sq", 3}});
  const Verdict verdict = verdict_of(as_saved(state({{"w", 1}}), saved));
  EXPECT_EQ(verdict.reason.find("after resume exp_avg/exp_avg_sq are absent"), 0U) << verdict.reason;
}

// State by the names of parameters, which a load does not go by.
TEST(LoadedStateTest, StateThatHasNoNumbersIsNotSeen) {
  const Checkpoint saved = state({{"model.w", 1}, {"optimizer.state.w.exp_avg", 2}});
  const LoadedState found = as_saved(state({{"w", 1}, {"optimizer.state.0.exp_avg", 2}}), saved);
  EXPECT_EQ(found.unseen, std::vector<std::string>{"optimizer.state.w.exp_avg"});
  EXPECT_EQ(names(found.subject), std::vector<std::string>{"model.w"});
}

TEST(LoadedStateTest, BetasOfTheGroups) {
  const reader::testing::TempDir run;
  testing::CaptureJob job(run.path(), 0);
  job.note("load.note", "Optimizer.load_state_dict", 0, R"({"groups":[{"betas":[0.9,0.98]},{"lr":0.1}]})");
  job.finish();
  auto captures = reader::RunCaptures::open(run.path());
  ASSERT_TRUE(captures.ok());
  const auto values = loaded_betas(*captures, 0);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].name, "optimizer.param_groups.0.betas.1");
  EXPECT_EQ(std::get<double>(values[1].value), 0.98);
  EXPECT_TRUE(loaded_betas(*captures, 1).empty());
}

}  // namespace
}  // namespace plumbline::checks
