// The small JSON files of two checkpoint directories, field by field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

struct FieldDifference {
  std::string field;
  std::optional<std::string> subject;  // nothing: the field is not there
  std::optional<std::string> reference;
  std::string words() const;  // "hidden_size is 64, the reference has 128"
};

// Fields of <stem>.json, but for those that say who wrote it and when, and, where only one of both has it, those that
// are none or false there. Empty where one side has no such file.
std::vector<FieldDifference> field_differences(const reader::Checkpoint& subject, const reader::Checkpoint& reference,
                                               std::string_view stem);

// Has the checkpoint any value of <stem>.json?
bool has_settings(const reader::Checkpoint& checkpoint, std::string_view stem);

}  // namespace plumbline::checks
