#include "checks/mismatch_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checks/call_text.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using reader::Collective;

std::string place_of(const GroupFront& front) {
  return fmt::format("{} ({})", front.name, ranks_phrase(front.ranks()));
}

std::vector<std::int32_t> ranks_of(const CallClass& one) {
  std::vector<std::int32_t> ranks;
  for (const FrontMember* member : one.members) ranks.push_back(member->rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// The ranks that are outvoted; without a majority, those that left their usual path; failing that, all.
std::vector<std::int32_t> guilty_ranks(const FirstDifference& first) {
  const auto broke = [](const CallClass& one) { return one.habit == Habit::kBroken; };
  const bool tie = first.classes.size() > 1 && first.classes[0].members.size() == first.classes[1].members.size();
  const bool told = std::any_of(first.classes.begin(), first.classes.end(), broke) &&
                    !std::all_of(first.classes.begin(), first.classes.end(), broke);
  std::vector<std::int32_t> ranks;
  for (std::size_t index = 0; index < first.classes.size(); ++index) {
    const bool guilty = !tie ? index > 0 : !told || broke(first.classes[index]);
    if (!guilty) continue;
    for (const std::int32_t rank : ranks_of(first.classes[index])) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string slip_clause(Slip slip, const std::vector<std::int32_t>& ranks) {
  switch (slip) {
    case Slip::kSwapped:
      return fmt::format("; {} made two calls in the other order", ranks_phrase(ranks));
    case Slip::kSkipped:
      return fmt::format("; {} left out a call", ranks_phrase(ranks));
    case Slip::kExtra:
      return fmt::format("; {} made a call that the others did not", ranks_phrase(ranks));
    case Slip::kPlain:
      break;
  }
  return {};
}

// Do the two largest classes come from different lines of the script?
bool lines_differ(const FirstDifference& first) {
  const std::uint64_t one = first.classes[0].calls.at(first.seq).site;
  const std::uint64_t other = first.classes[1].calls.at(first.seq).site;
  return one != 0 && other != 0 && one != other;
}

std::string size_clause(const FirstDifference& first) {
  if (lines_differ(first)) return {};
  if (first.difference != Difference::kSize || first.classes.size() != 2) return {};
  const std::uint64_t a = reader::call_terms(first.classes[0].calls.at(first.seq)).size;
  const std::uint64_t b = reader::call_terms(first.classes[1].calls.at(first.seq)).size;
  return fmt::format(" ({} elements apart)", std::max(a, b) - std::min(a, b));
}

std::string outcome_clause(const Collective& call) {
  switch (call.outcome) {
    case reader::Outcome::kCompleted:
      return "it finished without an error";
    case reader::Outcome::kFailed:
      return "it failed";
    case reader::Outcome::kRaised:
      return "it raised an error";
    case reader::Outcome::kCaptured:
      return "it was captured into a graph";
    case reader::Outcome::kPending:
      break;
  }
  return call.settled() ? "its end is not recorded" : "it never ended";
}

// Calls from different lines are a fault for certain only when ranks are seen to be out of step, within one step of the
// training: a rank that takes turns with others in a role calls from another line each time, and is right.
bool is_certain(const Subject& subject, const FirstDifference& first, Slip slip) {
  if (first.difference != Difference::kLine) return true;
  if (slip == Slip::kPlain) return false;
  if (slip != Slip::kSwapped) return true;
  for (const CallClass& one : first.classes) {
    const reader::Trace& trace = subject.run().traces()[one.members.front()->trace];
    const auto here = one.calls.find(first.seq);
    const auto next = one.calls.find(first.seq + 1);
    if (trace.steps().count() == 0 || here == one.calls.end() || next == one.calls.end()) return false;
    if (trace.steps().step_at(here->second.enqueue_ns) != trace.steps().step_at(next->second.enqueue_ns)) return false;
  }
  return true;
}

std::string title_of(const Subject& subject, const GroupFront& front, const FirstDifference& first, Slip slip) {
  std::string calls;
  const Collective& example = first.classes[0].calls.at(first.seq);
  for (const CallClass& one : first.classes) {
    const Collective& call = one.calls.at(first.seq);
    if (!calls.empty()) calls += ", ";
    calls += ranks_phrase(ranks_of(one));
    if (first.difference == Difference::kLine) {
      calls += " from " + site_text(subject.run().traces()[one.members.front()->trace], call);
    } else {
      calls += " called " + call_text(call);
      if (call.peer >= 0 && first.difference == Difference::kRoot) {
        calls += fmt::format(" with root {}",
                             front.members[static_cast<std::size_t>(call.peer) % front.members.size()].rank);
      }
    }
  }
  const std::string slipped = slip_clause(slip, guilty_ranks(first));
  if (first.difference == Difference::kLine) {
    return fmt::format("different lines called {} of {}: {}{}", call_name(example), place_of(front), calls, slipped);
  }
  return fmt::format("different calls as #{} of {}: {}{}{}", first.seq, place_of(front), calls, size_clause(first),
                     slipped);
}

std::string next_of(const FirstDifference& first, const std::vector<std::int32_t>& guilty) {
  if (lines_differ(first) && !reader::has_root(first.classes[0].calls.at(first.seq).op)) {
    return fmt::format(
        "find why {} came to another line: fewer batches than the others, or a condition that differs "
        "by rank",
        ranks_phrase(guilty));
  }
  switch (first.difference) {
    case Difference::kSize:
      return "print on each rank what is sent there: parameters without a gradient, or batches of another length, make "
             "the sizes differ";
    case Difference::kReduceOp:
    case Difference::kDtype:
    case Difference::kRoot:
      return fmt::format("make the {} the same on all ranks: look at {}", name_of(first.difference),
                         ranks_phrase(guilty));
    default:
      return "make every rank take the same path to that line; TORCH_DISTRIBUTED_DEBUG=DETAIL stops at the first call "
             "that differs";
  }
}

std::vector<Caller> callers_of(const Subject& subject, const FirstDifference& first) {
  constexpr std::size_t kTold = 4;
  std::vector<Caller> callers;
  for (const CallClass& one : first.classes) {
    if (callers.size() == kTold) break;
    const FrontMember& member = *one.members.front();
    const reader::Trace& trace = subject.run().traces()[member.trace];
    callers.push_back({member.rank, member.trace, with_marks(trace, one.calls.at(first.seq))});
  }
  return callers;
}

}  // namespace

std::string caller_line(const Subject& subject, const Caller& caller) {
  const reader::Trace& trace = subject.run().traces()[caller.trace];
  std::string line = fmt::format("rank {} called {}", caller.rank, call_text(caller.call));
  if (const std::string site = site_text(trace, caller.call); !site.empty()) line += " at " + site;
  line += fmt::format(", {}{}", time_text(subject.seconds(caller.trace, caller.call.enqueue_ns)),
                      step_clause(trace, caller.call.enqueue_ns));
  if (const std::string phase = phase_at(trace, caller.call.enqueue_ns); !phase.empty()) line += ", inside " + phase;
  return line + "; " + outcome_clause(caller.call);
}

Evidence evidence_of(const Subject& subject, const Caller& caller) {
  const reader::Trace& trace = subject.run().traces()[caller.trace];
  Evidence evidence;
  evidence.trace = trace.path();
  evidence.rank = caller.rank;
  evidence.step = trace.steps().count() == 0 ? -1 : trace.steps().step_at(caller.call.enqueue_ns);
  evidence.time_ns = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, subject.clock().since_start(caller.trace, caller.call.enqueue_ns)));
  evidence.record = caller.call.id;
  evidence.frame_offset = caller.call.place.frame_offset;
  evidence.shows = call_text(caller.call);
  return evidence;
}

std::string lines_text(const Subject& subject, const std::vector<Caller>& callers) {
  std::string text;
  for (const Caller& caller : callers) {
    const std::string site = site_text(subject.run().traces()[caller.trace], caller.call);
    if (!site.empty()) text += fmt::format("{}rank {} called at {}", text.empty() ? "" : "; ", caller.rank, site);
  }
  return text;
}

Finding calls_finding(const Subject& subject, Attempt attempt, const GroupFront& front, const FirstDifference& first) {
  const Slip slip = slip_of(first.classes[0].calls, first.classes[1].calls, first.seq);
  const std::vector<Caller> callers = callers_of(subject, first);
  Finding finding;
  finding.title = attempt_prefix(subject.run(), attempt) + title_of(subject, front, first, slip);
  finding.ranks = guilty_ranks(first);
  for (const Caller& caller : callers) {
    finding.details.push_back(caller_line(subject, caller));
    finding.evidence.push_back(evidence_of(subject, caller));
  }
  if (first.classes[0].members.size() == first.classes[1].members.size() && finding.ranks.size() < callers.size()) {
    finding.details.push_back(
        fmt::format("{} left the path of the steps before, the others did not", ranks_phrase(finding.ranks)));
  }
  const bool silent = std::any_of(callers.begin(), callers.end(), [](const Caller& caller) {
    return caller.call.outcome == reader::Outcome::kCompleted;
  });
  const bool certain = is_certain(subject, first, slip);
  if (silent && certain)
    finding.details.push_back("what it gave the ranks on which it finished is wrong, and the job used it");
  if (first.further + first.further_blocks > 0) {
    finding.details.push_back(fmt::format(
        "{} of the calls after it differ too{}", first.further,
        first.further_blocks > 0 ? fmt::format(", and so do {} later stretches of 256", first.further_blocks) : ""));
  }
  if (!certain) {
    finding.status = Status::kInconclusive;
    finding.unknown.push_back("whether that is meant: ranks that take turns in a role call from different lines too");
  }
  finding.affected = front.ranks();
  finding.time_ns = subject.clock().since_start(callers.front().trace, callers.front().call.enqueue_ns);
  for (const Caller& caller : callers) {
    finding.time_ns = std::min(finding.time_ns, subject.clock().since_start(caller.trace, caller.call.enqueue_ns));
  }
  const Collective& example = callers.front().call;
  finding.place = {front.name, front.ranks(), static_cast<std::int64_t>(first.seq), call_name(example)};
  finding.descent.run = fmt::format("first seen at {}{}", time_text(reader::RunClock::seconds(finding.time_ns)),
                                    step_clause(subject.run().traces()[callers.front().trace], example.enqueue_ns));
  const auto guilty = std::find_if(callers.begin(), callers.end(), [&](const Caller& caller) {
    return std::find(finding.ranks.begin(), finding.ranks.end(), caller.rank) != finding.ranks.end();
  });
  finding.descent.rank = caller_line(subject, guilty == callers.end() ? callers.front() : *guilty);
  finding.descent.component =
      fmt::format("group {}{}", place_of(front), front.backend.empty() ? "" : ", backend " + front.backend);
  finding.descent.operation = fmt::format("{}: the {} differs", call_name(example), name_of(first.difference));
  finding.descent.line = lines_text(subject, callers);
  finding.next = next_of(first, finding.ranks);
  return finding;
}

}  // namespace plumbline::checks
