#include "checks/state_parts.hpp"

#include <gtest/gtest.h>

#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::checks {
namespace {

TEST(StatePartsTest, KeysOfAnOptimizersState) {
  const auto key = state_key("optimizer.state.3.exp_avg");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->owner, "optimizer.state.3");
  EXPECT_EQ(key->key, "exp_avg");
  EXPECT_TRUE(state_key("state.model.layers.0.weight.step"));
  EXPECT_FALSE(state_key("model.layers.0.weight"));
  EXPECT_FALSE(state_key("trainer_state.global_step"));
  EXPECT_FALSE(state_key("state.0"));
}

TEST(StatePartsTest, FieldsOfAGroup) {
  const auto field = group_field("optimizer.param_groups.12.betas.0");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->optimizer, "optimizer.");
  EXPECT_EQ(field->group, 12U);
  EXPECT_EQ(field->field, "betas.0");
  EXPECT_TRUE(group_field("param_groups.0.lr"));
  EXPECT_FALSE(group_field("param_groups.x.lr"));
  EXPECT_FALSE(group_field("optimizer.lr"));
}

TEST(StatePartsTest, WhatAValueIsFor) {
  EXPECT_EQ(part_of_value("optimizer.param_groups.0.lr"), Part::kGroup);
  EXPECT_EQ(part_of_value("optimizer.state.0.step"), Part::kOptimizerState);
  EXPECT_EQ(part_of_value("scheduler.last_epoch"), Part::kSchedule);
  EXPECT_EQ(part_of_value("grad_scaler.scale"), Part::kScaler);
  EXPECT_EQ(part_of_value("rng_state.python.1.0"), Part::kRandom);
  EXPECT_EQ(part_of_value("dataloader.position"), Part::kData);
  EXPECT_EQ(part_of_value("trainer_state.global_step"), Part::kData);
  EXPECT_EQ(part_of_value("trainer_state.log_history.0.loss"), Part::kOther);
  EXPECT_EQ(part_of_value("generation_config.eos_token_id"), Part::kOther);
  EXPECT_EQ(part_of_tensor("model.layers.0.weight"), Part::kParameter);
  EXPECT_EQ(part_of_tensor("rng.torch"), Part::kRandom);
  EXPECT_EQ(name_of(Part::kData), "the position in the data");
}

TEST(StatePartsTest, Numbers) {
  EXPECT_EQ(number_of(reader::Scalar(std::int64_t{3})), 3.0);
  EXPECT_EQ(number_of(reader::Scalar(0.5)), 0.5);
  EXPECT_EQ(number_of(reader::Scalar(true)), std::nullopt);
  const auto checkpoint = reader::testing::checkpoint_of({reader::testing::tensor_of("step", {}, {8})});
  EXPECT_EQ(number_of(checkpoint.tensors[0]), 8.0);
}

}  // namespace
}  // namespace plumbline::checks
