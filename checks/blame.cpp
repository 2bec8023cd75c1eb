#include "checks/blame.hpp"

#include <algorithm>

#include "checks/ending.hpp"

namespace plumbline::checks {
namespace {

using reader::Collective;
using reader::Op;

bool has_root(Op op) { return op == Op::kReduce || op == Op::kBroadcast || op == Op::kGather || op == Op::kScatter; }

bool has_equal_counts(Op op) {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
    case Op::kReduce:
    case Op::kBroadcast:
    case Op::kAllGather:
    case Op::kAllGatherBase:
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
      return true;
    default:
      return false;
  }
}

// The members whose call differs from what most called. With no majority nobody can be named: all of them.
std::vector<const OpenCallMember*> outvoted(const std::vector<const OpenCallMember*>& callers) {
  if (callers.empty()) return {};
  std::size_t best = 0;
  const OpenCallMember* model = callers.front();
  bool tie = false;
  for (const OpenCallMember* candidate : callers) {
    std::size_t votes = 0;
    for (const OpenCallMember* other : callers) votes += same_call(*candidate->call, *other->call);
    if (votes > best) {
      best = votes;
      model = candidate;
      tie = false;
    } else if (votes == best && !same_call(*candidate->call, *model->call)) {
      tie = true;
    }
  }
  if (best == callers.size()) return {};
  if (tie) return callers;
  std::vector<const OpenCallMember*> odd;
  for (const OpenCallMember* one : callers) {
    if (!same_call(*one->call, *model->call)) odd.push_back(one);
  }
  return odd;
}

// Members whose process ended inside the call, if that was before the others' failure or end: when a launcher ends the
// remaining ranks, the first one that went is the one to look at.
std::vector<const OpenCallMember*> ended_inside(const Subject& subject, const OpenCall& open) {
  std::vector<const OpenCallMember*> ended;
  std::int64_t earliest = INT64_MAX;
  const auto waiting = open.with(Standing::kWaiting);
  std::vector<std::int64_t> end_times;
  for (const OpenCallMember* member : waiting) {
    const Ending ending = ending_of(subject.run().traces()[member->trace]);
    const std::int64_t time = ending.ended() ? subject.clock().since_start(member->trace, ending.time_ns) : INT64_MAX;
    end_times.push_back(time);
    earliest = std::min(earliest, time);
  }
  if (earliest == INT64_MAX) return ended;
  // All of them ended, none failed: with nobody left behind, a common outer cause is as likely.
  const bool left_behind = !open.with(Standing::kFailed).empty() ||
                           std::any_of(end_times.begin(), end_times.end(), [](auto time) { return time == INT64_MAX; });
  for (std::size_t index = 0; index < waiting.size(); ++index) {
    const bool first = end_times[index] == earliest;
    if (left_behind ? end_times[index] != INT64_MAX : first && waiting.size() > 1) ended.push_back(waiting[index]);
  }
  return ended;
}

}  // namespace

bool same_call(const Collective& a, const Collective& b) {
  if (a.op != b.op || a.dtype != b.dtype || a.reduce_op != b.reduce_op) return false;
  if (has_root(a.op) && a.peer != b.peer) return false;
  return !has_equal_counts(a.op) || std::max(a.count_in, a.count_out) == std::max(b.count_in, b.count_out);
}

Blame blame_for(const Subject& subject, const OpenCall& open) {
  if (auto absent = open.with(Standing::kAbsent); !absent.empty()) return {Cause::kNeverJoined, std::move(absent)};
  std::vector<const OpenCallMember*> callers;
  for (const OpenCallMember& member : open.members) {
    if (member.call) callers.push_back(&member);
  }
  if (auto odd = outvoted(callers); !odd.empty()) return {Cause::kMismatch, std::move(odd)};
  std::vector<const OpenCallMember*> raised;
  for (const OpenCallMember* member : callers) {
    if (member->call->outcome == reader::Outcome::kRaised) raised.push_back(member);
  }
  if (!raised.empty()) return {Cause::kRaised, std::move(raised)};
  if (auto ended = ended_inside(subject, open); !ended.empty()) return {Cause::kEndedInside, std::move(ended)};
  return {};
}

}  // namespace plumbline::checks
