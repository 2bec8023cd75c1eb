#include "checks/export_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "checks/settings_compare.hpp"
#include "checks/state_compare.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Scalar;

constexpr std::array<std::string_view, 5> kSettings = {"config", "generation_config", "tokenizer_config",
                                                       "special_tokens_map", "preprocessor_config"};
constexpr std::string_view kAdded = "tokenizer_config.added_tokens_decoder.";

bool belongs_to_tokenizer(std::string_view name) {
  return name.starts_with("tokenizer") || name.starts_with("vocab") || name == "merges.txt" ||
         name == "special_tokens_map.json" || name == "added_tokens.json" || name.ends_with(".jinja") ||
         name.ends_with(".model") || name.ends_with(".tiktoken");
}

bool same_contents(const reader::CheckpointFile& a, const reader::CheckpointFile& b) {
  const auto mine = a.mapped->bytes();
  const auto theirs = b.mapped->bytes();
  return mine.size() == theirs.size() && (mine.empty() || std::memcmp(mine.data(), theirs.data(), mine.size()) == 0);
}

bool is_settings(std::string_view name) {
  return std::any_of(kSettings.begin(), kSettings.end(),
                     [&](std::string_view stem) { return name == std::string(stem) + ".json"; });
}

void add_files(const Checkpoint& subject, const Checkpoint& reference, std::vector<Finding>& findings) {
  // Tensors alone were exported to be compared: then nothing is said about the files around them.
  const bool directory = has_settings(subject, "config") || has_settings(reference, "config");
  if (!directory) return;
  std::vector<std::string> missing;
  for (const reader::CheckpointFile& theirs : reference.files) {
    if (!belongs_to_tokenizer(theirs.name) && !is_settings(theirs.name)) continue;
    const reader::CheckpointFile* mine = subject.file(theirs.name);
    if (mine == nullptr) {
      missing.push_back(theirs.name);
    } else if (!is_settings(theirs.name) && !same_contents(*mine, theirs)) {
      findings.push_back(fault(fmt::format("{} is another file than the original's ({} and {} bytes)", theirs.name,
                                           mine->mapped->bytes().size(), theirs.mapped->bytes().size()),
                               {}, "copy the tokenizer's files that training used"));
    }
  }
  if (missing.empty()) return;
  findings.push_back(fault(fmt::format("{} of the original is missing in the export", names_text(missing)), missing,
                           "save the tokenizer and the settings beside the weights"));
}

void add_fields(const Checkpoint& subject, const Checkpoint& reference, std::vector<Finding>& findings) {
  for (const std::string_view stem : kSettings) {
    std::vector<std::string> details;
    for (const FieldDifference& one : field_differences(subject, reference, stem)) details.push_back(one.words());
    if (details.empty()) continue;
    std::string title = fmt::format("{}.json differs in {}: {}", stem, count_of(details.size(), "field"), details[0]);
    findings.push_back(fault(std::move(title), std::move(details), {}));
  }
}

// One number, or all of a list.
std::set<std::int64_t> numbers_of(const Checkpoint& checkpoint, const std::string& field) {
  std::set<std::int64_t> numbers;
  for (const reader::NamedValue& one : checkpoint.values) {
    if (one.name != field && !one.name.starts_with(field + ".")) continue;
    if (const auto* number = std::get_if<std::int64_t>(&one.value)) numbers.insert(*number);
  }
  return numbers;
}

std::string text_of(const Checkpoint& checkpoint, const std::string& field) {
  for (const std::string& name : {field, field + ".content"}) {
    const Scalar* value = checkpoint.value(name);
    if (value == nullptr) continue;
    if (const auto* text = std::get_if<std::string>(value)) return *text;
  }
  return {};
}

// The number of a token that tokenizer_config.json lists.
std::optional<std::int64_t> number_of_token(const Checkpoint& checkpoint, const std::string& token) {
  for (const reader::NamedValue& one : checkpoint.values) {
    const std::string_view name = one.name;
    if (!name.starts_with(kAdded) || !name.ends_with(".content") || one.value != Scalar(token)) continue;
    std::int64_t number = 0;
    for (const char digit : name.substr(kAdded.size(), name.size() - kAdded.size() - std::strlen(".content"))) {
      if (digit < '0' || digit > '9' || number > (std::int64_t{1} << 32)) return std::nullopt;
      number = number * 10 + (digit - '0');
    }
    return number;
  }
  return std::nullopt;
}

std::string numbers_text(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

// A server stops at the tokens of generation_config.json, or else of config.json; training ended turns with the
// tokenizer's.
void add_end_token(const Checkpoint& subject, std::vector<Finding>& findings) {
  std::string file = "generation_config";
  std::set<std::int64_t> stops = numbers_of(subject, file + ".eos_token_id");
  if (stops.empty()) {
    file = "config";
    stops = numbers_of(subject, file + ".eos_token_id");
  }
  const std::string token = text_of(subject, "tokenizer_config.eos_token");
  const auto number = token.empty() ? std::nullopt : number_of_token(subject, token);
  if (!number || stops.empty() || stops.count(*number) != 0) return;
  findings.push_back(fault(
      fmt::format("{}.json stops at token {}, but the tokenizer's end token is {} ({}): what training ended turns with "
                  "does not end a generation",
                  file, numbers_text(stops), *number, token),
      {}, fmt::format("set eos_token_id in generation_config.json to {}", *number)));
}

}  // namespace

std::vector<Finding> export_settings_findings(const Checkpoint& subject, const Checkpoint& reference) {
  std::vector<Finding> findings;
  add_files(subject, reference, findings);
  add_fields(subject, reference, findings);
  add_end_token(subject, findings);
  return findings;
}

}  // namespace plumbline::checks
