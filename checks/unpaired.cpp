#include "checks/unpaired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "checks/call_text.hpp"
#include "checks/ending.hpp"
#include "checks/last_activity.hpp"
#include "reader/match.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using reader::MatchedCollective;
using reader::MatchedMember;

bool waits(const MatchedMember& member) { return member.present && !member.collective.settled(); }

bool has_pending_call(const Subject& subject) {
  for (const reader::TraceSummary& summary : subject.summaries()) {
    for (const reader::Collective& call : summary.pending) {
      if (reader::is_point_to_point(call.op) && call.parent == 0) return true;
    }
  }
  return false;
}

Finding finding_of(const Subject& subject, const MatchedCollective& match, const MatchedMember& waiting,
                   const MatchedMember& peer) {
  const reader::Trace& trace = subject.run().traces()[waiting.trace];
  const reader::Collective& call = waiting.collective;
  const std::string group = match.group_description.empty() ? match.group_name : match.group_description;
  Finding finding;
  const bool sends = call.op == reader::Op::kSend;
  finding.title = peer.present ? fmt::format("{} between ranks {} and {} in {} did not finish; both made their call",
                                             reader::name_of(call.op), waiting.rank, peer.rank, group)
                               : fmt::format("rank {} never {} what rank {} {} it in {} (tag {})", peer.rank,
                                             sends ? "received" : "sent", waiting.rank,
                                             sends ? "sends to" : "receives from", group, call.tensor_tag);
  if (!peer.present) finding.ranks = {peer.rank};
  const Ending ending = ending_of(trace);
  finding.details.push_back(fmt::format("rank {} waits in {} since {}{}; it {}", waiting.rank, call_text(call),
                                        time_text(subject.seconds(waiting.trace, call.enqueue_ns)),
                                        step_clause(trace, call.enqueue_ns), ending.brief));
  bool peer_ended = false;
  if (peer.has_trace) {
    const Ending peer_ending = ending_of(subject.run().traces()[peer.trace]);
    peer_ended = peer_ending.ended();
    const LastActivity activity = last_activity(subject.run().traces()[peer.trace], 0);
    finding.details.push_back(fmt::format("rank {} did last: {}; it {}", peer.rank,
                                          last_activity_text(subject, peer.trace, activity), peer_ending.clause));
  } else {
    finding.unknown.push_back(fmt::format("what rank {} did: there is no trace", peer.rank));
  }
  if (!peer_ended && !ending.ended()) {
    finding.status = Status::kInconclusive;
    finding.unknown.push_back(fmt::format("whether rank {} will still get there; read the run again later", peer.rank));
  } else if (!peer.has_trace) {
    finding.status = Status::kInconclusive;
  }
  Evidence evidence;
  evidence.trace = trace.path();
  evidence.rank = waiting.rank;
  evidence.step = trace.steps().step_at(call.enqueue_ns);
  evidence.time_ns = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, subject.clock().since_start(waiting.trace, call.enqueue_ns)));
  evidence.record = call.id;
  evidence.frame_offset = call.place.frame_offset;
  evidence.shows = call_text(call);
  finding.evidence.push_back(std::move(evidence));
  return finding;
}

}  // namespace

std::vector<Finding> unpaired_calls(const Subject& subject, int attempt) {
  std::vector<Finding> findings;
  if (!has_pending_call(subject)) return findings;
  std::set<std::tuple<std::string, int, int>> told;
  reader::MatchOptions options;
  options.attempt = attempt;
  reader::match_collectives(subject.run(), options, [&](const MatchedCollective& match) {
    if (!match.point_to_point || match.members.size() != 2) return true;
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
      const MatchedMember& waiting = match.members[index];
      const MatchedMember& peer = match.members[1 - index];
      if (!waits(waiting) || !told.emplace(match.group_name, waiting.rank, peer.rank).second) continue;
      findings.push_back(finding_of(subject, match, waiting, peer));
      if (peer.present) break;
    }
    return true;
  });
  return findings;
}

}  // namespace plumbline::checks
