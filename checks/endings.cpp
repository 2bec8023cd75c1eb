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

// " (attempt 1)" where there was more than one.
std::string attempt_clause(const Subject& subject, const reader::Trace& trace) {
  return subject.run().last_attempt() > 0 ? fmt::format(" (attempt {})", trace.attempt()) : "";
}

std::string name_of(const Subject& subject, const reader::Trace& trace) {
  const std::string name =
      trace.rank() >= 0 ? fmt::format("rank {}", trace.rank()) : fmt::format("process {}", trace.pid());
  return name + attempt_clause(subject, trace);
}

// A process that was told to end by its launcher after another one had gone: a consequence, not a cause.
bool was_ended_by_launcher(const reader::Trace& trace, const Ending& ending) {
  return ending.kind == EndingKind::kSignal && trace.exit() != nullptr && trace.exit()->signal == SIGTERM;
}

std::string who(const Subject& subject, const std::vector<End>& ends, Finding& finding) {
  for (const End& end : ends) finding.ranks.push_back(subject.run().traces()[end.trace].rank());
  const reader::Trace& first = subject.run().traces()[ends.front().trace];
  return ends.size() == 1 ? name_of(subject, first) : ranks_phrase(finding.ranks) + attempt_clause(subject, first);
}

Finding finding_of(const Subject& subject, const std::vector<End>& ends) {
  const End& first = ends.front();
  const reader::Trace& trace = subject.run().traces()[first.trace];
  Finding finding;
  std::string names = who(subject, ends, finding);
  std::string clause = first.ending.clause;
  if (ends.size() > 1 && clause.starts_with("was ")) clause.replace(0, 4, "were ");
  // A killed process leaves no moment of death, only the last sign of life.
  const std::string_view when = first.ending.kind == EndingKind::kKilled ? "last seen" : "first";
  finding.title =
      fmt::format("{} {}, {} at {}{}", names, clause, ends.size() == 1 && when == "first" ? "ended" : when,
                  time_text(reader::RunClock::seconds(first.time_ns)), step_clause(trace, first.ending.time_ns));
  for (const End& end : ends) {
    if (finding.details.size() == 2) break;
    const reader::Trace& one = subject.run().traces()[end.trace];
    finding.details.push_back(fmt::format("{} did last: {}", name_of(subject, one),
                                          last_activity_text(subject, end.trace, last_activity(one, 0))));
    for (const reader::InFlightCall& call : one.in_flight()) {
      if (call.what != recorder::Kind::kAllocFailed) continue;
      finding.details.push_back(fmt::format("it died inside an allocation of {}", bytes_text(call.id_or_size)));
    }
  }
  for (const End& end : ends) {
    const reader::Trace& one = subject.run().traces()[end.trace];
    Evidence evidence;
    evidence.trace = one.path();
    evidence.rank = one.rank();
    evidence.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, end.time_ns));
    evidence.shows = end.ending.clause;
    finding.evidence.push_back(std::move(evidence));
  }
  return finding;
}

void add_findings(const Subject& subject, std::vector<End> bad, Verdict& verdict) {
  std::stable_sort(bad.begin(), bad.end(), [](const End& a, const End& b) { return a.time_ns < b.time_ns; });
  const auto& traces = subject.run().traces();
  const auto consequence = [&](const End& end) { return was_ended_by_launcher(traces[end.trace], end.ending); };
  const bool all_alike = std::all_of(bad.begin(), bad.end(), consequence);
  std::vector<std::vector<End>> groups;
  std::map<std::string, std::size_t> group_of;
  std::vector<std::int32_t> ended_later;
  for (const End& end : bad) {
    const reader::Trace& trace = traces[end.trace];
    if (!all_alike && consequence(end)) {
      ended_later.push_back(trace.rank());
      continue;
    }
    const std::string key = fmt::format("{}/{}/{}", trace.launch(), trace.attempt(), end.ending.clause);
    const auto [at, added] = group_of.try_emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(end);
  }
  for (const std::vector<End>& ends : groups) verdict.findings.push_back(finding_of(subject, ends));
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
