#include "checks/unfinished.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "checks/blame.hpp"
#include "checks/call_text.hpp"
#include "checks/ending.hpp"
#include "checks/group_calls.hpp"
#include "checks/last_activity.hpp"
#include "checks/open_call.hpp"
#include "checks/unpaired.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// Ranks that are told of one by one; a hang of a thousand ranks has the same few facts a thousand times.
constexpr std::size_t kToldInFull = 2;

struct Judged {
  Finding finding;
  std::vector<std::int32_t> waiting;
};

std::string place_of(const GroupCalls& group) {
  return fmt::format("{} ({})", group.name, ranks_phrase(group.ranks()));
}

std::string verb(const std::vector<std::int32_t>& ranks, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", ranks_phrase(ranks), ranks.size() == 1 ? one : many);
}

// ", rank 0 waits in it" and the like: what became of those that made the call.
std::string others_clause(const OpenCall& open, const std::vector<const OpenCallMember*>& guilty) {
  const auto without_guilty = [&](Standing standing) {
    std::vector<std::int32_t> ranks;
    for (const OpenCallMember* member : open.with(standing)) {
      if (std::find(guilty.begin(), guilty.end(), member) == guilty.end()) ranks.push_back(member->rank);
    }
    return ranks;
  };
  std::string clause;
  if (const auto waiting = without_guilty(Standing::kWaiting); !waiting.empty()) {
    clause += "; " + verb(waiting, "waits in it", "wait in it");
  }
  if (const auto failed = without_guilty(Standing::kFailed); !failed.empty()) {
    clause += "; it failed on " + ranks_phrase(failed);
  }
  if (clause.empty()) {
    const auto finished = without_guilty(Standing::kFinished);
    if (!finished.empty()) clause = "; " + verb(finished, "finished without it", "finished without it");
  }
  return clause;
}

// What each of the differing calls was, and on which ranks.
std::string mismatch_title(const GroupCalls& group, const OpenCall& open) {
  std::vector<std::pair<const reader::Collective*, std::vector<std::int32_t>>> kinds;
  for (const OpenCallMember& member : open.members) {
    if (!member.call) continue;
    const auto alike = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const auto& kind) { return same_call(*kind.first, *member.call); });
    if (alike == kinds.end()) {
      kinds.push_back({&*member.call, {member.rank}});
    } else {
      alike->second.push_back(member.rank);
    }
  }
  std::string calls;
  for (const auto& [call, ranks] : kinds) {
    calls += fmt::format("{}{} called {}", calls.empty() ? "" : ", ", ranks_phrase(ranks), call_text(*call));
  }
  return fmt::format("different calls as #{} of {}: {}", open.seq, place_of(group), calls);
}

std::string title_of(const GroupCalls& group, const OpenCall& open, const Blame& blame) {
  const reader::Collective* call = open.example();
  const std::string what =
      fmt::format("{} of {}", call ? call_name(*call) : fmt::format("collective #{}", open.seq), place_of(group));
  const std::vector<std::int32_t> guilty = ranks_of(blame.guilty);
  const std::string others = others_clause(open, blame.guilty);
  switch (blame.cause) {
    case Cause::kNeverJoined:
      return fmt::format("{} never joined {}{}", ranks_phrase(guilty), what, others);
    case Cause::kEndedInside:
      return fmt::format("{} ended inside {}{}", ranks_phrase(guilty), what, others);
    case Cause::kMismatch:
      return mismatch_title(group, open);
    case Cause::kRaised:
      return fmt::format("{} of {} raised an error on {}{}", call_name(*call), place_of(group), ranks_phrase(guilty),
                         others);
    case Cause::kNotKnown:
      break;
  }
  if (const auto failed = ranks_of(open.with(Standing::kFailed)); !failed.empty()) {
    return fmt::format("{} failed on {}{}", what, ranks_phrase(failed),
                       open.with(Standing::kWaiting).empty() ? "" : "; others wait in it");
  }
  const auto waiting = ranks_of(open.with(Standing::kWaiting));
  return fmt::format("{} did not finish on {}; no rank with a trace is missing in it", what, ranks_phrase(waiting));
}

std::string waiting_line(const Subject& subject, const OpenCallMember& member) {
  const reader::Trace& trace = subject.run().traces()[member.trace];
  const reader::Collective& call = *member.call;
  const Ending ending = ending_of(trace);
  const std::uint64_t until = std::max(ending.time_ns, trace.last_ns());
  std::string line = fmt::format("rank {} waits in {} since {}", member.rank, call_text(call),
                                 time_text(subject.seconds(member.trace, call.enqueue_ns)));
  if (until > call.enqueue_ns) line += fmt::format(" (for {})", duration_text(until - call.enqueue_ns));
  line += step_clause(trace, call.enqueue_ns);
  const LastActivity activity = last_activity(trace, call.enqueue_ns);
  if (activity.open_range) line += fmt::format(", inside {}", trace.text(activity.open_range->name));
  if (call.wait_ns != 0 && call.wait_end_ns == 0) line += ", in Work.wait()";
  return line + fmt::format("; it {}", ending.brief);
}

std::string guilty_line(const Subject& subject, const OpenCallMember& member) {
  const reader::Trace& trace = subject.run().traces()[member.trace];
  const Ending ending = ending_of(trace);
  const LastActivity activity = last_activity(trace, 0);
  std::string line;
  if (member.standing == Standing::kAbsent) {
    line = fmt::format("rank {} did last: {}", member.rank, last_activity_text(subject, member.trace, activity));
  } else if (member.call) {
    line = fmt::format("rank {} called {} at {}", member.rank, call_text(*member.call),
                       time_text(subject.seconds(member.trace, member.call->enqueue_ns)));
  } else {
    line = fmt::format("rank {}", member.rank);
  }
  line += fmt::format("; it {}", ending.clause);
  if (ending.ended()) {
    line += fmt::format("{} at {}", ending.kind == EndingKind::kKilled ? ", last seen" : "",
                        time_text(subject.seconds(member.trace, ending.time_ns)));
  }
  if (activity.open_collective && member.standing == Standing::kAbsent) {
    const reader::Group* group = trace.group(activity.open_collective->group);
    line += fmt::format("; it is itself inside {}{}", call_name(*activity.open_collective),
                        group ? " of " + group_name(*group) : "");
  }
  return line;
}

template <class Line>
void tell(std::vector<std::string>& lines, const std::vector<const OpenCallMember*>& members, const Line& line) {
  for (std::size_t index = 0; index < members.size() && index < kToldInFull; ++index) {
    lines.push_back(line(*members[index]));
  }
  if (members.size() > kToldInFull) {
    std::vector<std::int32_t> rest;
    for (std::size_t index = kToldInFull; index < members.size(); ++index) rest.push_back(members[index]->rank);
    lines.push_back(fmt::format("{}: likewise", ranks_phrase(rest)));
  }
}

// May events of this trace be missing, so that "it never called" could be a lost record?
bool may_lack_calls(const reader::Trace& trace) {
  const auto& dropped = trace.dropped();
  const auto kind = static_cast<std::size_t>(recorder::Kind::kCollective);
  if (dropped.size() > kind && dropped[kind] > 0) return true;
  if (!trace.damage().empty()) return true;
  return trace.ring_join() == reader::RingJoin::kUnusable || trace.ring_join() == reader::RingJoin::kNone;
}

// Could the difference be gone when the run is read again? Only ranks that may still run can catch up.
bool may_be_in_flight(const Subject& subject, const OpenCall& open, const Blame& blame) {
  if (!open.with(Standing::kFailed).empty()) return false;
  if (blame.cause == Cause::kMismatch || blame.cause == Cause::kRaised || blame.cause == Cause::kEndedInside) {
    return false;
  }
  std::vector<const OpenCallMember*> needed = blame.guilty;
  if (needed.empty()) needed = open.with(Standing::kWaiting);
  return std::all_of(needed.begin(), needed.end(), [&](const OpenCallMember* member) {
    return !ending_of(subject.run().traces()[member->trace]).ended();
  });
}

void add_unknowns(const Subject& subject, const GroupCalls& group, const OpenCall& open, const Blame& blame,
                  Finding& finding) {
  if (may_be_in_flight(subject, open, blame)) {
    finding.status = Status::kInconclusive;
    const auto& ranks = blame.guilty.empty() ? ranks_of(open.with(Standing::kWaiting)) : finding.ranks;
    finding.unknown.push_back(
        fmt::format("whether {} will still get there; read the run again later", ranks_phrase(ranks)));
  }
  for (const OpenCallMember* member : blame.guilty) {
    const reader::Trace& trace = subject.run().traces()[member->trace];
    if (member->standing != Standing::kAbsent || !may_lack_calls(trace)) continue;
    finding.status = Status::kInconclusive;
    finding.unknown.push_back(
        fmt::format("whether rank {} made the call: events of its trace are lost (run-reader verify)", member->rank));
  }
  if (const auto unseen = ranks_of(open.with(Standing::kNoTrace)); !unseen.empty()) {
    if (blame.guilty.empty()) finding.status = Status::kInconclusive;
    finding.unknown.push_back(fmt::format("what {} did: there is no trace", ranks_phrase(unseen)));
  }
  if (!group.completions_seen) {
    finding.unknown.push_back(fmt::format("which calls of {} had finished: their ends are not recorded", group.name));
  }
}

void add_evidence(const Subject& subject, const OpenCall& open, Finding& finding) {
  for (const OpenCallMember& member : open.members) {
    if (!member.call) continue;
    const reader::Trace& trace = subject.run().traces()[member.trace];
    Evidence evidence;
    evidence.trace = trace.path();
    evidence.rank = member.rank;
    evidence.step = trace.steps().step_at(member.call->enqueue_ns);
    evidence.time_ns = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, subject.clock().since_start(member.trace, member.call->enqueue_ns)));
    evidence.record = member.call->id;
    evidence.frame_offset = member.call->place.frame_offset;
    evidence.shows = call_text(*member.call);
    finding.evidence.push_back(std::move(evidence));
  }
}

Judged judge(const Subject& subject, const GroupCalls& group, const OpenCall& open) {
  const Blame blame = blame_for(subject, open);
  Judged judged;
  Finding& finding = judged.finding;
  finding.title = title_of(group, open, blame);
  finding.ranks = ranks_of(blame.guilty);
  tell(finding.details, blame.guilty, [&](const OpenCallMember& member) { return guilty_line(subject, member); });
  std::vector<const OpenCallMember*> waiting;
  for (const OpenCallMember* member : open.with(Standing::kWaiting)) {
    judged.waiting.push_back(member->rank);
    if (std::find(blame.guilty.begin(), blame.guilty.end(), member) == blame.guilty.end()) waiting.push_back(member);
  }
  tell(finding.details, waiting, [&](const OpenCallMember& member) { return waiting_line(subject, member); });
  add_unknowns(subject, group, open, blame, finding);
  add_evidence(subject, open, finding);
  return judged;
}

// A finding whose guilty ranks wait in another finding's collective follows from that one.
void causes_first(std::vector<Judged>& judged) {
  const auto follows = [&](const Judged& one) {
    return std::any_of(judged.begin(), judged.end(), [&](const Judged& other) {
      return &other != &one && !one.finding.ranks.empty() &&
             std::all_of(one.finding.ranks.begin(), one.finding.ranks.end(), [&](std::int32_t rank) {
               return std::find(other.waiting.begin(), other.waiting.end(), rank) != other.waiting.end();
             });
    });
  };
  std::stable_partition(judged.begin(), judged.end(), [&](const Judged& one) { return !follows(one); });
}

std::set<std::pair<int, int>> attempts_of(const reader::Run& run) {
  std::set<std::pair<int, int>> attempts;
  for (const reader::Trace& trace : run.traces()) attempts.emplace(trace.launch(), trace.attempt());
  return attempts;
}

std::string attempt_prefix(const reader::Run& run, int launch, int attempt) {
  if (run.launches() > 1) return fmt::format("launch {}, attempt {}: ", launch, attempt);
  return fmt::format("attempt {}: ", attempt);
}

void settle(const Subject& subject, std::uint64_t calls, Verdict& verdict) {
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  const std::vector<int> missing = subject.run().missing_ranks();
  if (!missing.empty()) {
    verdict.unknown.push_back(
        fmt::format("what {} did: there is no trace", ranks_phrase({missing.begin(), missing.end()})));
  }
  if (fails) {
    verdict.status = Status::kFail;
    verdict.reason = "collectives did not finish, or were not joined, on every rank of their group";
  } else if (!verdict.findings.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "collectives are open, and may be merely under way";
  } else if (calls == 0) {
    verdict.status = Status::kNotEvaluated;
    verdict.reason = "no collective was recorded";
  } else if (!missing.empty()) {
    verdict.status = Status::kInconclusive;
    verdict.reason = "all recorded collectives finished, but ranks without a trace were not seen";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = "every collective was joined by all ranks of its group, and finished";
  }
}

}  // namespace

Verdict check_unfinished(const Subject& subject) {
  Verdict verdict;
  verdict.check = "unfinished";
  std::uint64_t calls = 0;
  for (const reader::TraceSummary& summary : subject.summaries()) calls += summary.collectives;
  std::vector<Judged> judged;
  std::vector<Finding> unpaired;
  const auto attempts = attempts_of(subject.run());
  for (const auto& [launch, attempt] : attempts) {
    // With one launch and no restart there is nothing to tell apart.
    const std::string where = attempts.size() > 1 ? attempt_prefix(subject.run(), launch, attempt) : "";
    for (const GroupCalls& group : group_calls(subject, launch, attempt)) {
      const auto open = first_open_call(subject, group);
      if (!open) continue;
      judged.push_back(judge(subject, group, *open));
      judged.back().finding.title.insert(0, where);
    }
    if (launch != subject.run().launches() - 1) continue;
    for (Finding& finding : unpaired_calls(subject, attempt)) {
      finding.title.insert(0, where);
      unpaired.push_back(std::move(finding));
    }
  }
  causes_first(judged);
  for (Judged& one : judged) verdict.findings.push_back(std::move(one.finding));
  for (Finding& finding : unpaired) verdict.findings.push_back(std::move(finding));
  settle(subject, calls, verdict);
  return verdict;
}

}  // namespace plumbline::checks
