// What a value or tensor of a saved training state is for, by its name: optimizers, schedules and samplers of all
// frameworks call these things much alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

enum class Part : std::uint8_t {
  kParameter,
  kOptimizerState,  // one key of one parameter
  kGroup,           // a field of a param group
  kSchedule,
  kScaler,
  kRandom,
  kData,   // how far the data was read
  kOther,  // settings, logs, times
};

std::string_view name_of(Part part);  // "the learning rate schedule"

Part part_of_value(std::string_view name);
Part part_of_tensor(std::string_view name);

// "optimizer.state.3.exp_avg": owner "optimizer.state.3", key "exp_avg".
struct StateKey {
  std::string_view owner;
  std::string_view key;
};
std::optional<StateKey> state_key(std::string_view name);

// "optimizer.param_groups.1.betas.0": optimizer "optimizer.", group 1, field "betas.0".
struct GroupField {
  std::string_view optimizer;
  std::size_t group = 0;
  std::string_view field;
};
std::optional<GroupField> group_field(std::string_view name);

// A number that a value is, or the only element of a tensor.
std::optional<double> number_of(const reader::Scalar& value);
std::optional<double> number_of(const reader::Tensor& tensor);

}  // namespace plumbline::checks
