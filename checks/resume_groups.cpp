#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "checks/resume_optimizer.hpp"
#include "checks/state_compare.hpp"
#include "checks/state_parts.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Scalar;
using reader::scalar_text;

// The fields of a param group; its parameters' numbers among them as params.0, params.1 …
using Group = std::map<std::string, const Scalar*>;

std::map<std::string, std::map<std::size_t, Group>> groups_of(const Checkpoint& checkpoint) {
  std::map<std::string, std::map<std::size_t, Group>> optimizers;
  for (const reader::NamedValue& one : checkpoint.values) {
    const auto field = group_field(one.name);
    if (!field || field->field == "step") continue;  // a counter
    optimizers[std::string(field->optimizer)][field->group].emplace(field->field, &one.value);
  }
  return optimizers;
}

std::string field_text(const Group& group, const std::string& field) {
  const auto found = group.find(field);
  return found == group.end() ? "absent" : scalar_text(*found->second);
}

bool is_member(const std::string& field) { return field.starts_with("params."); }

std::size_t members(const Group& group) {
  std::size_t count = 0;
  for (const auto& [field, value] : group) count += is_member(field) ? 1U : 0U;
  return count;
}

bool same_field(const Group& a, const Group& b, const std::string& field) {
  const auto mine = a.find(field);
  const auto theirs = b.find(field);
  if (mine == a.end() || theirs == b.end()) return mine == a.end() && theirs == b.end();
  return *mine->second == *theirs->second;
}

std::set<std::string> different_fields(const Group& mine, const Group& theirs) {
  std::set<std::string> fields;
  for (const Group* group : {&mine, &theirs}) {
    for (const auto& [field, value] : *group) {
      if (!is_member(field) && !same_field(mine, theirs, field)) fields.insert(field);
    }
  }
  return fields;
}

// "lr" is the word that people know it by.
std::string called(const std::string& field) { return field == "lr" ? "the learning rate (lr)" : field; }

void compare_optimizer(const std::map<std::size_t, Group>& mine, const std::map<std::size_t, Group>& theirs,
                       std::vector<Finding>& findings) {
  if (mine.size() != theirs.size()) {
    findings.push_back(fault(fmt::format("the optimizer has {} after the resume, {} at the save",
                                         count_of(mine.size(), "param group"), count_of(theirs.size(), "param group")),
                             {}, "build the groups as they were when the checkpoint was written; keep empty ones"));
    return;
  }
  for (const auto& [index, group] : theirs) {
    const auto found = mine.find(index);
    if (found == mine.end()) continue;
    const std::set<std::string> fields = different_fields(found->second, group);
    std::vector<std::string> details;
    for (const std::string& field : fields) {
      std::string words = fmt::format("{} of group {} is {} after the resume, {} at the save", called(field), index,
                                      field_text(found->second, field), field_text(group, field));
      for (const auto& [other, its] : theirs) {
        if (other != index && same_field(found->second, its, field)) {
          words += fmt::format(", which is what group {} had", other);
          break;
        }
      }
      details.push_back(std::move(words));
    }
    if (members(found->second) != members(group)) {
      details.push_back(fmt::format("group {} has {} after the resume, {} at the save", index,
                                    count_of(members(found->second), "parameter"),
                                    count_of(members(group), "parameter")));
    }
    if (details.empty()) continue;
    std::string title = details.front();
    findings.push_back(fault(std::move(title), std::move(details),
                             "load the optimizer's state dict after its groups are built, in the same order"));
  }
}

}  // namespace

std::vector<Finding> resume_group_findings(const Checkpoint& subject, const Checkpoint& reference) {
  std::vector<Finding> findings;
  const auto mine = groups_of(subject);
  for (const auto& [optimizer, groups] : groups_of(reference)) {
    const auto found = mine.find(optimizer);
    // An optimizer that is not there at all is told with the rest of what is missing.
    if (found != mine.end()) compare_optimizer(found->second, groups, findings);
  }
  return findings;
}

}  // namespace plumbline::checks
