// Two states compared tensor by tensor, and what was found told by kind: one finding for all that are transposed, say.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/tensor_relation.hpp"
#include "checks/verdict.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

using TensorPair = std::pair<const reader::Tensor*, const reader::Tensor*>;  // subject, reference

struct Compared {
  const reader::Tensor* subject = nullptr;
  const reader::Tensor* reference = nullptr;
  TensorRelation relation;
};

struct Comparison {
  std::vector<Compared> all;        // in the order of the pairs
  std::vector<std::string> unread;  // sentences: files that were cut while they were read
  std::size_t count(Relation kind) const;
};

// On all cores.
Comparison compare_all(const reader::Checkpoint& subject, const reader::Checkpoint& reference,
                       const std::vector<TensorPair>& pairs);

// What two states are called in sentences.
struct Sides {
  std::string subject;    // "the module", "the export"
  std::string reference;  // "the file"
};

// One finding a kind, those that damage most tensors first; casts are left out where `cast_is_fine`.
std::vector<Finding> findings_of(const Comparison& comparison, const Sides& sides, bool cast_is_fine);

// "a, b, c and 12 more".
std::string names_text(const std::vector<std::string>& names, std::size_t most = 4);
std::string names_text(const std::vector<const reader::Tensor*>& tensors, std::size_t most = 4);
// "1 tensor", "3 tensors".
std::string count_of(std::size_t count, std::string_view one);

Finding fault(std::string title, std::vector<std::string> details = {}, std::string next = {});
// What was wrong with a side's files leaves the check open.
void add_damage(const reader::Checkpoint& side, std::string_view whose, std::vector<Finding>& into);

// pass, fail or inconclusive by the findings; the reason is that of the first one, or `otherwise`.
Verdict concluded(std::string check, std::vector<Finding> findings, std::string otherwise);
Verdict not_evaluated(std::string check, std::string reason);
// Of a state without anything to compare: where it is damaged, that is the reason, and the verdict is open.
Verdict nothing_to_compare(std::string check, const reader::Checkpoint& side, std::string_view words);

}  // namespace plumbline::checks
