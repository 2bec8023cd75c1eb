#include "checks/settings_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Scalar;
using reader::scalar_text;

// That say who wrote the file. The element type is told of the tensors themselves.
constexpr std::array<std::string_view, 6> kIgnored = {"transformers_version", "_name_or_path", "torch_dtype", "dtype",
                                                      "name_or_path",         "_commit_hash"};

std::map<std::string_view, const Scalar*> fields_of(const Checkpoint& checkpoint, std::string_view stem) {
  std::map<std::string_view, const Scalar*> fields;
  for (const reader::NamedValue& one : checkpoint.values) {
    const std::string_view name = one.name;
    if (!name.starts_with(stem) || name.size() <= stem.size() || name[stem.size()] != '.') continue;
    fields.emplace(name.substr(stem.size() + 1), &one.value);
  }
  return fields;
}

bool means_nothing(const Scalar& value) {
  return std::holds_alternative<std::monostate>(value) || value == Scalar(false);
}

// 1 and 1.0 are one number.
bool same(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  const auto number = [](const Scalar& value) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
  };
  const auto left = number(a);
  const auto right = number(b);
  return left && right && *left == *right;
}

}  // namespace

std::string FieldDifference::words() const {
  if (!subject) return fmt::format("{} is not there, the reference has {}", field, *reference);
  if (!reference) return fmt::format("{} is {}, the reference does not have it", field, *subject);
  return fmt::format("{} is {}, the reference has {}", field, *subject, *reference);
}

std::vector<FieldDifference> field_differences(const Checkpoint& subject, const Checkpoint& reference,
                                               std::string_view stem) {
  const auto mine = fields_of(subject, stem);
  const auto theirs = fields_of(reference, stem);
  std::vector<FieldDifference> differences;
  if (mine.empty() || theirs.empty()) return differences;
  const auto ignored = [](std::string_view field) {
    return std::find(kIgnored.begin(), kIgnored.end(), field.substr(field.rfind('.') + 1)) != kIgnored.end();
  };
  for (const auto& [field, value] : theirs) {
    const auto found = mine.find(field);
    if (ignored(field) || (found == mine.end() ? means_nothing(*value) : same(*found->second, *value))) continue;
    differences.push_back({std::string(field),
                           found == mine.end() ? std::nullopt : std::optional(scalar_text(*found->second)),
                           scalar_text(*value)});
  }
  for (const auto& [field, value] : mine) {
    if (ignored(field) || theirs.count(field) != 0 || means_nothing(*value)) continue;
    differences.push_back({std::string(field), scalar_text(*value), std::nullopt});
  }
  return differences;
}

bool has_settings(const Checkpoint& checkpoint, std::string_view stem) { return !fields_of(checkpoint, stem).empty(); }

}  // namespace plumbline::checks
