#include "checks/endings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <vector>

#include "checks/call_text.hpp"
#include "checks/ending.hpp"
#include "checks/last_activity.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

struct End {
  std::size_t trace = 0;
  Ending ending;
  std::int64_t time_ns = 0;  // on the run's clock
};

std::string subject_of(const reader::Trace& trace) {
  std::string text = trace.rank() >= 0 ? fmt::format("rank {}", trace.rank()) : fmt::format("process {}", trace.pid());
  if (trace.attempt() > 0) text += fmt::format(" (attempt {})", trace.attempt());
  return text;
}

// A process that was told to end by its launcher after another one had gone: a consequence, not a cause.
bool was_ended_by_launcher(const reader::Trace& trace, const Ending& ending) {
  return ending.kind == EndingKind::kSignal && trace.exit() != nullptr && trace.exit()->signal == SIGTERM;
}

Finding finding_of(const Subject& subject, const End& end) {
  const reader::Trace& trace = subject.run().traces()[end.trace];
  Finding finding;
  finding.title =
      fmt::format("{} {} at {}{}", subject_of(trace), end.ending.clause,
                  time_text(reader::RunClock::seconds(end.time_ns)), step_clause(trace, end.ending.time_ns));
  if (trace.rank() >= 0) finding.ranks.push_back(trace.rank());
  finding.details.push_back("it did last: " + last_activity_text(subject, end.trace, last_activity(trace, 0)));
  for (const reader::InFlightCall& call : trace.in_flight()) {
    if (call.what != recorder::Kind::kAllocFailed) continue;
    finding.details.push_back(fmt::format("it died inside an allocation of {} bytes", call.id_or_size));
  }
  Evidence evidence;
  evidence.trace = trace.path();
  evidence.rank = trace.rank();
  evidence.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, end.time_ns));
  evidence.shows = end.ending.clause;
  finding.evidence.push_back(std::move(evidence));
  return finding;
}

void add_findings(const Subject& subject, std::vector<End> bad, Verdict& verdict) {
  std::stable_sort(bad.begin(), bad.end(), [](const End& a, const End& b) { return a.time_ns < b.time_ns; });
  const auto& traces = subject.run().traces();
  const auto consequence = [&](const End& end) { return was_ended_by_launcher(traces[end.trace], end.ending); };
  const bool all_alike = std::all_of(bad.begin(), bad.end(), consequence);
  // Processes with the same end are told of once.
  std::map<std::string, std::size_t> finding_of_clause;
  std::vector<std::int32_t> ended_later;
  for (const End& end : bad) {
    const reader::Trace& trace = traces[end.trace];
    if (!all_alike && consequence(end)) {
      ended_later.push_back(trace.rank());
      continue;
    }
    const std::string key = fmt::format("{}/{}/{}", trace.launch(), trace.attempt(), end.ending.clause);
    const auto [at, added] = finding_of_clause.try_emplace(key, verdict.findings.size());
    if (added) {
      verdict.findings.push_back(finding_of(subject, end));
    } else {
      verdict.findings[at->second].ranks.push_back(trace.rank());
    }
  }
  for (Finding& finding : verdict.findings) {
    if (finding.ranks.size() < 2) continue;
    const std::vector<std::int32_t> others(finding.ranks.begin() + 1, finding.ranks.end());
    finding.details.push_back(fmt::format("{} likewise, later", ranks_phrase(others)));
  }
  if (!ended_later.empty()) {
    verdict.findings.front().details.push_back(
        fmt::format("{} then got SIGTERM, as launchers send it to the rest", ranks_phrase(ended_later)));
  }
}

}  // namespace

Verdict check_endings(const Subject& subject) {
  Verdict verdict;
  verdict.check = "endings";
  std::vector<End> bad;
  std::vector<std::int32_t> running;
  std::vector<std::int32_t> unknown;
  const auto& traces = subject.run().traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const Ending ending = ending_of(traces[index]);
    if (ending.bad()) bad.push_back({index, ending, subject.clock().since_start(index, ending.time_ns)});
    if (ending.kind == EndingKind::kRunning) running.push_back(traces[index].rank());
    if (ending.kind == EndingKind::kUnknown) unknown.push_back(traces[index].rank());
  }
  if (!bad.empty()) add_findings(subject, std::move(bad), verdict);
  if (!unknown.empty()) {
    verdict.unknown.push_back(
        fmt::format("how {} ended: no exit record, and no way to ask from here", ranks_phrase(unknown)));
  }
  if (!verdict.findings.empty()) {
    verdict.status = Status::kFail;
    verdict.reason = "not every process ended in order";
  } else if (traces.empty()) {
    verdict.reason = "there is no trace";
  } else if (!running.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = fmt::format("{} still at work", running.size() == 1 ? "a process is" : "processes are");
  } else if (!unknown.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "not every process left an exit record";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = "every process ended in order";
  }
  return verdict;
}

}  // namespace plumbline::checks
