#include "checks/crash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "checks/call_text.hpp"
#include "checks/ending.hpp"
#include "checks/group_fronts.hpp"
#include "checks/last_activity.hpp"
#include "checks/memory_kills.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

struct End {
  std::size_t trace = 0;
  Ending ending;
  std::int64_t time_ns = 0;  // on the run's clock
};

const reader::Trace& trace_of(const Subject& subject, const End& end) { return subject.run().traces()[end.trace]; }

// " (attempt 1)" where there was more than one.
std::string attempt_clause(const Subject& subject, const reader::Trace& trace) {
  return subject.run().last_attempt() > 0 ? fmt::format(" (attempt {})", trace.attempt()) : "";
}

std::string name_of(const Subject& subject, const reader::Trace& trace) {
  const std::string name =
      trace.rank() >= 0 ? fmt::format("rank {}", trace.rank()) : fmt::format("process {}", trace.pid());
  return name + attempt_clause(subject, trace);
}

// How likely an end is the first cause, by its own words: 0 is its own doing. A process that was killed without a word
// may have been the first to go; but not when another had ended before its last sign of life.
int order_of(const End& end, std::int64_t first_recorded_ns) {
  if (end.ending.kind == EndingKind::kKilled) return end.time_ns <= first_recorded_ns ? 1 : 4;
  switch (end.ending.origin) {
    case Origin::kOwn:
      return 0;
    case Origin::kTimedOut:
      return 2;
    case Origin::kPeerLost:
      return 3;
    case Origin::kToldToEnd:
      break;
  }
  return 4;
}

struct First {
  std::size_t index = 0;
  int order = 0;
};

// The one that went first by its own doing; ends are sorted by time.
First first_cause(const std::vector<End>& ends) {
  std::int64_t first_recorded = INT64_MAX;
  for (const End& end : ends) {
    if (end.ending.kind != EndingKind::kKilled) first_recorded = std::min(first_recorded, end.time_ns);
  }
  First first{0, order_of(ends[0], first_recorded)};
  for (std::size_t index = 1; index < ends.size(); ++index) {
    const int order = order_of(ends[index], first_recorded);
    if (first.order <= 1 && order <= 1) continue;  // both by their own doing: the earlier one
    if (order < first.order) first = {index, order};
  }
  return first;
}

std::string counted(const std::vector<std::int32_t>& ranks, std::string_view words) {
  return ranks.empty() ? std::string() : fmt::format("{} {}", ranks_phrase(ranks), words);
}

// What became of the others, cause by cause.
std::vector<std::string> consequences(const Subject& subject, const std::vector<End>& ends,
                                      const std::vector<std::size_t>& cause) {
  std::map<int, std::vector<std::int32_t>> others;
  std::vector<std::int32_t> killed;
  for (std::size_t index = 0; index < ends.size(); ++index) {
    if (std::find(cause.begin(), cause.end(), index) != cause.end()) continue;
    const Ending& ending = ends[index].ending;
    const std::int32_t rank = trace_of(subject, ends[index]).rank();
    if (ending.kind == EndingKind::kKilled) {
      killed.push_back(rank);
    } else {
      others[static_cast<int>(ending.origin)].push_back(rank);
    }
  }
  const auto of = [&](Origin origin) { return others[static_cast<int>(origin)]; };
  std::vector<std::string> lines;
  for (std::string line : {counted(of(Origin::kPeerLost), "lost the connection to it, and failed because of that"),
                           counted(of(Origin::kTimedOut), "gave up waiting, and failed because of that"),
                           counted(of(Origin::kToldToEnd), "then got SIGTERM, as launchers send it to the rest"),
                           counted(killed, "then ended without an exit record, as when a launcher ends the rest"),
                           counted(of(Origin::kOwn), "failed too, later")}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// The collective that the process was in when it ended: one that a thread is seen to be in, else the oldest that was
// under way; null: none.
const reader::Collective* inside(const Subject& subject, std::size_t trace) {
  const reader::Collective* oldest = nullptr;
  const reader::Collective* under_way = nullptr;
  for (const reader::Collective& call : subject.summaries()[trace].pending) {
    if (call.parent != 0) continue;
    const bool in_it = call.in_flight || (call.wait_ns != 0 && call.wait_end_ns == 0);
    const reader::Collective*& first = in_it ? oldest : under_way;
    if (first == nullptr || call.enqueue_ns < first->enqueue_ns) first = &call;
  }
  return oldest != nullptr ? oldest : under_way;
}

// By SIGKILL, as far as one can tell.
bool was_killed(const Ending& ending) {
  return ending.kind == EndingKind::kKilled ||
         (ending.kind == EndingKind::kSignal && ending.brief == "was killed by " + signal_name(SIGKILL));
}

std::string next_of(const reader::Trace& trace, const End& end, const reader::Collective* call, bool for_memory) {
  const Ending& ending = end.ending;
  if (for_memory) {
    return fmt::format(
        "give it more memory, or see by run-reader memory what held it; the kernel log of {} names "
        "process {}",
        trace.host(), trace.pid());
  }
  if (ending.kind == EndingKind::kKilled) {
    return fmt::format(
        "find out who ended process {} on {}: a scheduler, a launcher, a person; the kernel log tells "
        "of its own kills",
        trace.pid(), trace.host());
  }
  if (ending.kind == EndingKind::kSignal && call != nullptr) {
    return fmt::format("compare what the other ranks call as #{}: a library aborts when sizes do not fit", call->seq);
  }
  if (const reader::Stack* stack = stack_since(trace, 0); ending.kind == EndingKind::kSignal && stack != nullptr) {
    const std::string line = script_line(*stack);
    return fmt::format("look at what {} hands to native code; gdb shows in a core file where that failed",
                       line.empty() ? stack_text(*stack) : line);
  }
  if (ending.kind == EndingKind::kSignal) return "run once with PYTHONFAULTHANDLER=1: it prints where the signal hit";
  if (trace.exit() != nullptr && !trace.exit()->exception_class.empty()) {
    return fmt::format("read the traceback of rank {} in the job's output", trace.rank());
  }
  return fmt::format("read what rank {} printed last", trace.rank());
}

std::string kills_text(const MemoryKills& kills) {
  const std::string seen = fmt::format("for lack of memory, seen by rank {} at {}", kills.seen_by,
                                       time_text(reader::RunClock::seconds(kills.seen_ns)));
  if (kills.count == 1) return "the kernel killed a process of this memory group " + seen;
  return fmt::format("the kernel killed {} processes of this memory group {}", kills.count, seen);
}

void add_memory_details(const reader::Trace& trace, const std::optional<MemoryKills>& kills, Finding& finding) {
  if (kills) finding.details.push_back(kills_text(*kills));
  for (const reader::InFlightCall& call : trace.in_flight()) {
    if (call.what != recorder::Kind::kAllocFailed) continue;
    finding.details.push_back(fmt::format("it died inside an allocation of {}", bytes_text(call.id_or_size)));
  }
}

Finding finding_of(const Subject& subject, const std::vector<End>& ends, const std::vector<std::size_t>& cause) {
  const End& first = ends[cause.front()];
  const reader::Trace& trace = trace_of(subject, first);
  Finding finding;
  for (const std::size_t index : cause) finding.ranks.push_back(trace_of(subject, ends[index]).rank());
  std::string names =
      cause.size() == 1 ? name_of(subject, trace) : ranks_phrase(finding.ranks) + attempt_clause(subject, trace);
  std::string clause = first.ending.clause;
  if (cause.size() > 1 && clause.starts_with("was ")) clause.replace(0, 4, "were ");
  // A killed process leaves no moment of death, only the last sign of life.
  const std::string_view when = first.ending.kind == EndingKind::kKilled ? "last seen"
                                : cause.size() == 1                      ? "ended"
                                                                         : "first";
  finding.title =
      fmt::format("{} {}, {} at {}{}", names, clause, when, time_text(reader::RunClock::seconds(first.time_ns)),
                  step_clause(trace, first.ending.time_ns));
  for (const std::size_t index : cause) {
    if (finding.details.size() == 2) break;
    const reader::Trace& one = trace_of(subject, ends[index]);
    finding.details.push_back(fmt::format("{} did last: {}", name_of(subject, one),
                                          last_activity_text(subject, ends[index].trace, last_activity(one, 0))));
  }
  const reader::Collective* call = inside(subject, first.trace);
  if (call != nullptr) {
    const reader::Group* group = trace.group(call->group);
    finding.details.push_back(
        fmt::format("it was inside {}{}", call_text(*call), group != nullptr ? " of " + group_name(*group) : ""));
    if (group != nullptr) {
      finding.place = {group_name(*group),
                       {group->ranks.begin(), group->ranks.end()},
                       static_cast<std::int64_t>(call->seq),
                       call_name(*call)};
    }
  }
  const std::optional<MemoryKills> kills = was_killed(first.ending) ? memory_kills(subject, first.trace) : std::nullopt;
  add_memory_details(trace, kills, finding);
  for (std::string& line : stack_lines(subject, first.trace, 0)) finding.details.push_back(std::move(line));
  for (std::string& line : consequences(subject, ends, cause)) finding.details.push_back(std::move(line));
  for (const std::size_t index : cause) {
    Evidence evidence;
    evidence.trace = trace_of(subject, ends[index]).path();
    evidence.rank = trace_of(subject, ends[index]).rank();
    evidence.time_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, ends[index].time_ns));
    evidence.shows = ends[index].ending.clause;
    finding.evidence.push_back(std::move(evidence));
  }
  for (std::size_t index = 0; index < ends.size(); ++index) {
    if (std::find(cause.begin(), cause.end(), index) == cause.end()) {
      finding.affected.push_back(trace_of(subject, ends[index]).rank());
    }
  }
  finding.time_ns = first.time_ns;
  finding.descent.run = fmt::format("{} of {} processes ended badly, the first at {}", ends.size(),
                                    subject.run().traces().size(), time_text(reader::RunClock::seconds(first.time_ns)));
  finding.descent.rank = finding.details.front();
  if (call != nullptr) finding.descent.operation = call_text(*call);
  if (!finding.place.group.empty()) {
    finding.descent.component =
        fmt::format("group {} ({})", finding.place.group, ranks_phrase(finding.place.group_ranks));
  }
  if (const reader::Stack* stack = stack_since(trace, 0)) finding.descent.line = script_line(*stack);
  const bool raised = first.ending.kind == EndingKind::kFailed || first.ending.kind == EndingKind::kKilled;
  if (std::string line = exception_line(trace); raised && !line.empty()) finding.descent.line = std::move(line);
  if (finding.descent.line.empty() && call != nullptr) finding.descent.line = site_text(trace, *call);
  finding.next = next_of(trace, first, call, kills.has_value());
  return finding;
}

// One finding for the processes of one attempt: the first cause, with those that ended in the same words and that
// nothing sets apart from it.
void add_finding(const Subject& subject, std::vector<End> ends, Verdict& verdict) {
  std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.time_ns < b.time_ns; });
  const First first = first_cause(ends);
  std::vector<std::size_t> cause;
  for (std::size_t index = first.index; index < ends.size(); ++index) {
    // Ends at different moments in the same words: an error that every rank meets, or a signal that all were sent.
    if (ends[index].ending.clause == ends[first.index].ending.clause) cause.push_back(index);
  }
  verdict.findings.push_back(finding_of(subject, ends, cause));
  const bool all_killed = ends[first.index].ending.kind == EndingKind::kKilled && cause.size() > 1;
  verdict.findings.back().symptom = first.order >= 2 || all_killed;
  if (first.order >= 2 && subject.run().missing_ranks().empty()) {
    verdict.findings.back().unknown.push_back(
        "what ended it first: every process that left a trace says that it followed another one");
  }
}

}  // namespace

Verdict check_crash(const Subject& subject) {
  Verdict verdict;
  verdict.check = "crash";
  std::map<Attempt, std::vector<End>> bad;
  std::vector<std::int32_t> running;
  std::vector<std::int32_t> unknown;
  const auto& traces = subject.run().traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const Ending& ending = subject.ending(index);
    if (ending.bad()) {
      bad[{traces[index].launch(), traces[index].attempt()}].push_back(
          {index, ending, subject.clock().since_start(index, ending.time_ns)});
    }
    if (ending.kind == EndingKind::kRunning) running.push_back(traces[index].rank());
    if (ending.kind == EndingKind::kUnknown) unknown.push_back(traces[index].rank());
  }
  for (auto& [attempt, ends] : bad) add_finding(subject, std::move(ends), verdict);
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
