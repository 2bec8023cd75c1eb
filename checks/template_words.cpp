#include "checks/template_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checks/name_pattern.hpp"

namespace plumbline::checks {
namespace {

// A pair that several ranks report counts once.
TemplatePairs pairs_of(const reader::Run& run, std::string_view key) {
  TemplatePairs pairs;
  for (const reader::Trace& trace : run.traces()) {
    for (const auto& [name, value] : trace.definitions().facts) {
      const std::size_t tab = value.find('\t');
      if (!name.starts_with(key) || tab == std::string::npos) continue;
      std::pair<std::string, std::string> pair(value.substr(0, tab), value.substr(tab + 1));
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

RankGroups groups_called(const reader::Run& run, const std::string& name) {
  std::set<std::vector<int>> groups;
  for (const reader::Trace& trace : run.traces()) {
    for (const reader::Group& group : trace.definitions().groups) {
      if ((group.description == name || group.name == name) && group.ranks.size() > 1) groups.insert(group.ranks);
    }
  }
  return {groups.begin(), groups.end()};
}

}  // namespace

std::vector<TemplateReplicas> template_replicas(const Subject& subject, std::vector<std::string>& unknown) {
  std::vector<TemplateReplicas> result;
  std::set<std::string> absent;
  for (auto& [pattern, description] : pairs_of(subject.run(), "template.replicas.")) {
    RankGroups groups = groups_called(subject.run(), description);
    if (groups.empty()) {
      absent.insert(description);
    } else {
      result.push_back({pattern, description, std::move(groups)});
    }
  }
  for (const std::string& description : absent) {
    unknown.push_back(
        fmt::format("what the template says of {}: this run has no group of that name with two ranks", description));
  }
  return result;
}

TemplatePairs template_names(const reader::Run& run) { return pairs_of(run, "template.names."); }

std::string reference_name(const TemplatePairs& names, const std::string& name) {
  for (const auto& [pattern, other] : names) {
    if (auto found = translated(pattern, other, name)) return *found;
  }
  return name;
}

}  // namespace plumbline::checks
