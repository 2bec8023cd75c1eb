// Which tensor of one state is which of another: by name, where wrappers and a common prefix may come between.
//
//   const NameMatch match = match_names(subject, reference);
//   for (const auto& [mine, theirs] : match.pairs) compare(*mine, *theirs);
//   say(prefix_words(match, "module", "file"));    // file keys start with "model.", module keys do not
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

struct NameMatch {
  std::vector<std::pair<const reader::Tensor*, const reader::Tensor*>> pairs;  // subject, reference
  std::vector<const reader::Tensor*> only_subject;
  std::vector<const reader::Tensor*> only_reference;
  std::string subject_prefix;    // that the reference's names lack, or have another in its place
  std::string reference_prefix;  // likewise
  bool wrapped = false;          // wrappers' names had to be taken off
  bool by_prefix() const { return !subject_prefix.empty() || !reference_prefix.empty(); }
};

NameMatch match_names(const std::vector<const reader::Tensor*>& subject,
                      const std::vector<const reader::Tensor*>& reference);

// "the reference's keys start with "model.", the subject's do not"; empty when names are alike.
std::string prefix_words(const NameMatch& match, std::string_view subject, std::string_view reference);

// Without the names that wrappers put in: FSDP, torch.compile and activation checkpointing.
std::string unwrapped(std::string_view name);

// The model's parameters among all that was saved: what lies at the top, else in a dictionary that is called like a
// model.
std::vector<const reader::Tensor*> parameters_of(const reader::Checkpoint& checkpoint);

}  // namespace plumbline::checks
