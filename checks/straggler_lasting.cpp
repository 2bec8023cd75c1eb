#include "checks/straggler_lasting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/straggler.hpp"

namespace plumbline::checks {
namespace {

// Every call of every rank is looked at, some millions a second.
constexpr std::uint64_t kMostCalls = 4'000'000;

constexpr StragglerBar kLasting{.share = 0.1, .lost = 1'000'000'000, .slowdown = 0.5, .not_the_machine = true};

Verdict on_request(std::string_view what) {
  Verdict verdict;
  verdict.check = "straggler";
  verdict.reason = fmt::format("{} compared on request: run-reader stragglers", what);
  return verdict;
}

}  // namespace

Verdict check_lasting_straggler(const Subject& subject) {
  std::uint64_t calls = 0;
  for (const reader::TraceSummary& summary : subject.summaries()) calls += summary.collectives;
  if (calls > kMostCalls) return on_request(fmt::format("{} calls are", calls));
  const auto& traces = subject.run().traces();
  if (std::any_of(traces.begin(), traces.end(), is_imported)) return on_request("times of an imported file are");

  Verdict verdict = check_straggler(subject, kLasting);
  const bool undecided = !verdict.findings.empty();
  std::erase_if(verdict.findings, [](const Finding& finding) { return finding.status != Status::kFail; });
  if (verdict.status != Status::kInconclusive) return verdict;
  // What is undecided for want of steps was not judged.
  verdict.status = undecided ? Status::kPass : Status::kNotEvaluated;
  if (undecided)
    verdict.reason = "no rank is slow for long by its own doing; run-reader stragglers tells of smaller waits";
  return verdict;
}

}  // namespace plumbline::checks
