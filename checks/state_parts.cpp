#include "checks/state_parts.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace plumbline::checks {
namespace {

constexpr std::string_view kGroups = "param_groups.";

bool contains_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

std::string_view last_component(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// Where a component `name` begins in a path; npos when it has none.
std::size_t find_component(std::string_view path, std::string_view name) {
  for (std::size_t at = path.find(name); at != std::string_view::npos; at = path.find(name, at + 1)) {
    if (at == 0 || path[at - 1] == '.') return at;
  }
  return std::string_view::npos;
}

bool is_data(std::string_view name) {
  if (contains_any(name, {"dataloader", "data_loader", "sampler", "dataset", "train_loader"})) return true;
  constexpr std::array<std::string_view, 16> kPositions = {"epoch",          "global_step",   "step",
                                                           "iteration",      "iter",          "it",
                                                           "samples_seen",   "tokens_seen",   "num_batches",
                                                           "batches_seen",   "batch_idx",     "consumed_samples",
                                                           "rows_seen",      "data_position", "consumed_train_samples",
                                                           "consumed_tokens"};
  return std::find(kPositions.begin(), kPositions.end(), last_component(name)) != kPositions.end();
}

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kParameter:
      return "the parameters";
    case Part::kOptimizerState:
      return "the optimizer's state";
    case Part::kGroup:
      return "the optimizer's groups";
    case Part::kSchedule:
      return "the learning rate schedule";
    case Part::kScaler:
      return "the gradient scaler";
    case Part::kRandom:
      return "the random state";
    case Part::kData:
      return "the position in the data";
    case Part::kOther:
      return "other values";
  }
  return "other values";
}

Part part_of_value(std::string_view name) {
  if (contains_any(name, {"log_history", "config.", "tokenizer", "special_tokens"})) return Part::kOther;
  if (group_field(name)) return Part::kGroup;
  if (state_key(name)) return Part::kOptimizerState;
  if (contains_any(name, {"scheduler", "last_epoch", "_last_lr", "base_lrs"})) return Part::kSchedule;
  if (contains_any(name, {"scaler", "loss_scale"})) return Part::kScaler;
  if (contains_any(name, {"rng", "random"})) return Part::kRandom;
  if (is_data(name)) return Part::kData;
  return Part::kOther;
}

Part part_of_tensor(std::string_view name) {
  const Part part = part_of_value(name);
  if (part == Part::kOther || part == Part::kData || part == Part::kSchedule) return Part::kParameter;
  return part;
}

std::optional<StateKey> state_key(std::string_view name) {
  constexpr std::string_view kState = "state.";
  const std::size_t at = find_component(name, kState);
  const std::size_t dot = name.rfind('.');
  // The owner's name or number lies between: "state.3.exp_avg".
  if (at == std::string_view::npos || dot < at + kState.size() ||
      find_component(name, kGroups) != std::string_view::npos) {
    return std::nullopt;
  }
  return StateKey{name.substr(0, dot), name.substr(dot + 1)};
}

std::optional<GroupField> group_field(std::string_view name) {
  const std::size_t at = find_component(name, kGroups);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(at + kGroups.size());
  GroupField field{name.substr(0, at), 0, {}};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), field.group);
  if (error != std::errc{} || end == rest.data() + rest.size() || *end != '.') return std::nullopt;
  field.field = rest.substr(static_cast<std::size_t>(end - rest.data()) + 1);
  return field;
}

std::optional<double> number_of(const reader::Scalar& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::optional<double> number_of(const reader::Tensor& tensor) {
  if (tensor.elements() != 1) return std::nullopt;
  return value_at(tensor.dtype, tensor.bytes, 0);
}

}  // namespace plumbline::checks
