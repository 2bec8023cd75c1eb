// All checks of a run, and which of their findings explains the others: one root first, what follows from it under it.
//
//   const Diagnosis diagnosis = diagnose(subject);
//   if (const Finding* root = diagnosis.root()) say(root->title, root->descent, root->next);
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// A finding, by the numbers of its verdict and its place there.
struct FindingRef {
  std::size_t verdict = 0;
  std::size_t finding = 0;
  bool operator==(const FindingRef&) const = default;
};

struct Diagnosis {
  std::vector<Verdict> verdicts;
  std::vector<FindingRef> causes;        // that follow from no other: the root first
  std::vector<FindingRef> consequences;  // of the root, in the order of their time
  std::vector<FindingRef> others;        // of the other causes

  const Finding& finding(FindingRef ref) const { return verdicts[ref.verdict].findings[ref.finding]; }
  const Finding* root() const { return causes.empty() ? nullptr : &finding(causes.front()); }
};

// `progress` is told the name of each check before it starts.
Diagnosis diagnose(const Subject& subject, const std::function<void(std::string_view)>& progress = {});

// The same of verdicts that are there already.
Diagnosis arranged(std::vector<Verdict> verdicts);

}  // namespace plumbline::checks
