#include "checks/state_ranks.hpp"

#include <algorithm>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

bool any(const std::vector<RankVerdict>& verdicts, Status status) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [&](const RankVerdict& one) { return one.verdict.status == status; });
}

Status together(const std::vector<RankVerdict>& verdicts) {
  if (any(verdicts, Status::kFail)) return Status::kFail;
  if (any(verdicts, Status::kInconclusive)) return Status::kInconclusive;
  // A rank of which nothing could be said leaves the others' pass open.
  if (any(verdicts, Status::kPass)) {
    return any(verdicts, Status::kNotEvaluated) ? Status::kInconclusive : Status::kPass;
  }
  return Status::kNotEvaluated;
}

}  // namespace

Verdict over_ranks(const std::string& check, std::vector<RankVerdict> verdicts) {
  Verdict result;
  result.check = check;
  result.status = together(verdicts);
  for (RankVerdict& one : verdicts) {
    if (result.reason.empty() && one.verdict.status == result.status) result.reason = one.verdict.reason;
    for (std::string& unknown : one.verdict.unknown) {
      if (std::find(result.unknown.begin(), result.unknown.end(), unknown) == result.unknown.end()) {
        result.unknown.push_back(std::move(unknown));
      }
    }
    for (Finding& finding : one.verdict.findings) {
      const auto same = std::find_if(result.findings.begin(), result.findings.end(),
                                     [&](const Finding& other) { return other.title == finding.title; });
      const auto index = static_cast<std::size_t>(same - result.findings.begin());
      if (index == result.findings.size()) result.findings.push_back(std::move(finding));
      Finding& told = result.findings[index];
      if (one.rank >= 0) told.ranks.push_back(one.rank);
    }
  }
  for (Finding& finding : result.findings) {
    if (!finding.ranks.empty()) finding.title = ranks_phrase(finding.ranks) + ": " + finding.title;
  }
  std::stable_partition(result.findings.begin(), result.findings.end(),
                        [](const Finding& one) { return one.status == Status::kFail; });
  if (!result.findings.empty()) {
    result.reason = result.findings.front().title;
  } else if (verdicts.size() > 1 && result.status == Status::kPass) {
    result.reason += " on each of " + std::to_string(verdicts.size()) + " ranks";
  }
  return result;
}

}  // namespace plumbline::checks
