#include "checks/tensor_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

namespace plumbline::checks {
namespace {

using reader::Tensor;
using Tensors = std::vector<const Tensor*>;

// Anywhere in a name.
constexpr std::array<std::string_view, 3> kWrappers = {"_fsdp_wrapped_module.", "_orig_mod.",
                                                       "_checkpoint_wrapped_module."};
constexpr std::size_t kMostPrefixes = 24;
constexpr std::size_t kMostComponents = 3;

// Beginnings of names up to a dot, the most frequent first.
std::vector<std::string> prefixes_of(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : names) {
    std::size_t dot = name.find('.');
    for (std::size_t i = 0; i < kMostComponents && dot != std::string::npos; ++i, dot = name.find('.', dot + 1)) {
      ++counts[name.substr(0, dot + 1)];
    }
  }
  std::vector<std::string> prefixes;
  prefixes.reserve(counts.size());
  for (const auto& [prefix, count] : counts) prefixes.push_back(prefix);
  std::stable_sort(prefixes.begin(), prefixes.end(),
                   [&](const std::string& a, const std::string& b) { return counts[a] > counts[b]; });
  if (prefixes.size() > kMostPrefixes) prefixes.resize(kMostPrefixes);
  prefixes.insert(prefixes.begin(), "");
  return prefixes;
}

std::string_view without(std::string_view name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

std::size_t matches(const std::vector<std::string>& subject, std::string_view subject_prefix,
                    const std::vector<std::string>& reference, std::string_view reference_prefix) {
  std::set<std::string_view> names;
  for (const std::string& name : reference) names.insert(without(name, reference_prefix));
  std::size_t count = 0;
  for (const std::string& name : subject) count += names.count(without(name, subject_prefix));
  return count;
}

std::vector<std::string> unwrapped_names(const Tensors& tensors) {
  std::vector<std::string> names;
  for (const Tensor* tensor : tensors) names.push_back(unwrapped(tensor->key()));
  return names;
}

// The prefixes that make most names alike; none where names are alike as they are.
void find_prefixes(const std::vector<std::string>& subject, const std::vector<std::string>& reference,
                   NameMatch& match) {
  std::size_t best = matches(subject, "", reference, "");
  if (best == std::min(subject.size(), reference.size())) return;
  const auto attempt = [&](const std::string& mine, const std::string& theirs) {
    const std::size_t count = matches(subject, mine, reference, theirs);
    if (count <= best) return;
    best = count;
    match.subject_prefix = mine;
    match.reference_prefix = theirs;
  };
  const std::vector<std::string> mine = prefixes_of(subject);
  const std::vector<std::string> theirs = prefixes_of(reference);
  for (const std::string& prefix : theirs) attempt("", prefix);
  for (const std::string& prefix : mine) attempt(prefix, "");
  // Both have one, each another: only the most frequent are tried.
  constexpr std::size_t kBoth = 4;
  for (std::size_t i = 1; i < std::min(mine.size(), kBoth); ++i) {
    for (std::size_t j = 1; j < std::min(theirs.size(), kBoth); ++j) attempt(mine[i], theirs[j]);
  }
}

bool is_model_section(std::string_view section) {
  constexpr std::array<std::string_view, 8> kNames = {"model", "state_dict", "model_state_dict", "module",
                                                      "net",   "network",    "model_state",      "weights"};
  if (section.empty()) return true;
  section.remove_suffix(1);
  const std::string_view last = section.substr(section.rfind('.') + 1);
  return std::find(kNames.begin(), kNames.end(), last) != kNames.end();
}

}  // namespace

std::string unwrapped(std::string_view name) {
  std::string result(name);
  for (const std::string_view wrapper : kWrappers) {
    for (std::size_t at = result.find(wrapper); at != std::string::npos; at = result.find(wrapper)) {
      result.erase(at, wrapper.size());
    }
  }
  return result;
}

NameMatch match_names(const Tensors& subject, const Tensors& reference) {
  NameMatch match;
  const std::vector<std::string> mine = unwrapped_names(subject);
  const std::vector<std::string> theirs = unwrapped_names(reference);
  for (std::size_t i = 0; i < subject.size(); ++i) match.wrapped = match.wrapped || mine[i] != subject[i]->key();
  for (std::size_t i = 0; i < reference.size(); ++i) match.wrapped = match.wrapped || theirs[i] != reference[i]->key();
  find_prefixes(mine, theirs, match);
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (std::size_t i = 0; i < reference.size(); ++i)
    by_name.emplace(without(theirs[i], match.reference_prefix), reference[i]);
  std::set<const Tensor*> taken;
  for (std::size_t i = 0; i < subject.size(); ++i) {
    const auto found = by_name.find(without(mine[i], match.subject_prefix));
    if (found != by_name.end() && taken.insert(found->second).second) {
      match.pairs.emplace_back(subject[i], found->second);
    } else {
      match.only_subject.push_back(subject[i]);
    }
  }
  for (const Tensor* tensor : reference) {
    if (taken.count(tensor) == 0) match.only_reference.push_back(tensor);
  }
  return match;
}

std::string prefix_words(const NameMatch& match, std::string_view subject, std::string_view reference) {
  if (match.subject_prefix.empty() && match.reference_prefix.empty()) return {};
  if (match.subject_prefix.empty()) {
    return fmt::format("{} keys start with \"{}\", {} keys do not", reference, match.reference_prefix, subject);
  }
  if (match.reference_prefix.empty()) {
    return fmt::format("{} keys start with \"{}\", {} keys do not", subject, match.subject_prefix, reference);
  }
  return fmt::format("{} keys start with \"{}\", {} keys with \"{}\"", reference, match.reference_prefix, subject,
                     match.subject_prefix);
}

Tensors parameters_of(const reader::Checkpoint& checkpoint) {
  std::map<std::string_view, Tensors> sections;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (is_model_section(tensor.section())) sections[tensor.section()].push_back(&tensor);
  }
  if (sections.empty()) return {};
  if (const auto top = sections.find(""); top != sections.end()) return top->second;
  const auto bytes = [](const Tensors& tensors) {
    std::uint64_t sum = 0;
    for (const Tensor* tensor : tensors) sum += tensor->bytes.size();
    return sum;
  };
  return std::max_element(sections.begin(), sections.end(),
                          [&](const auto& a, const auto& b) { return bytes(a.second) < bytes(b.second); })
      ->second;
}

}  // namespace plumbline::checks
