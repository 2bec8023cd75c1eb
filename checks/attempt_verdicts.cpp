#include "checks/attempt_verdicts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace plumbline::checks {
namespace {

// Worst first.
int order(Status status) {
  switch (status) {
    case Status::kFail:
      return 0;
    case Status::kInconclusive:
      return 1;
    case Status::kPass:
      return 2;
    case Status::kNotEvaluated:
      break;
  }
  return 3;
}

std::string labelled(const std::string& label, const std::string& text) {
  return label.empty() ? text : label + ": " + text;
}

}  // namespace

Verdict over_attempts(std::vector<AttemptVerdict> verdicts) {
  Verdict result;
  for (const AttemptVerdict& one : verdicts) {
    if (order(one.verdict.status) < order(result.status)) result.status = one.verdict.status;
  }
  for (AttemptVerdict& one : verdicts) {
    Verdict& verdict = one.verdict;
    result.check = verdict.check;
    if (verdict.status == result.status)
      result.reason += (result.reason.empty() ? "" : "; ") + labelled(one.label, verdict.reason);
    if (verdict.status == Status::kNotEvaluated && result.status != Status::kNotEvaluated)
      result.unknown.push_back(labelled(one.label, verdict.reason));
    for (const std::string& unknown : verdict.unknown) result.unknown.push_back(labelled(one.label, unknown));
    for (Finding& finding : verdict.findings) {
      finding.title = labelled(one.label, finding.title);
      result.findings.push_back(std::move(finding));
    }
  }
  std::stable_sort(result.findings.begin(), result.findings.end(),
                   [](const Finding& a, const Finding& b) { return order(a.status) < order(b.status); });
  return result;
}

std::string capture_set_label(const Subject& subject, std::size_t index) {
  const std::vector<reader::CaptureSet>& all = subject.capture_sets().all;
  const reader::CaptureSet& set = all[index];
  bool launches = false;
  bool attempts = false;
  bool turns = false;
  for (const reader::CaptureSet& other : all) {
    launches = launches || other.launch != set.launch;
    attempts = attempts || (other.launch == set.launch && other.attempt != set.attempt);
    turns = turns || (other.launch == set.launch && other.attempt == set.attempt && other.turn != set.turn);
  }
  std::vector<std::string> words;
  if (launches) words.push_back(fmt::format("launch {}", set.launch));
  if (attempts) words.push_back(fmt::format("attempt {}", set.attempt));
  if (turns) {
    const reader::ProcessInfo& first = set.captures.files().front().process();
    words.push_back(first.rank < 0 ? fmt::format("process {} without a rank", first.pid)
                                   : fmt::format("process {} of rank {}", first.pid, first.rank));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace plumbline::checks
