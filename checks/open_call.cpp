#include "checks/open_call.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

using reader::Collective;
using reader::Outcome;

bool is_collective_of(const Collective& call, std::uint64_t group) {
  return call.group == group && call.parent == 0 && !reader::is_point_to_point(call.op);
}

bool is_error(Outcome outcome) { return outcome == Outcome::kFailed || outcome == Outcome::kRaised; }

// The oldest call of the member in the group that has not ended.
const Collective* oldest_pending(const Subject& subject, const GroupCalls& group, const GroupMember& member) {
  const Collective* oldest = nullptr;
  for (const Collective& call : subject.summaries()[member.trace].pending) {
    if (!is_collective_of(call, group.id)) continue;
    if (oldest == nullptr || call.seq < oldest->seq) oldest = &call;
  }
  return oldest;
}

// The first call that satisfies `wanted`, from the tail of the trace where it most likely is, else from all of it.
template <class Wanted>
std::optional<Collective> search(const reader::Trace& trace, const Wanted& wanted) {
  constexpr std::uint64_t kTail = 60'000'000'000;
  std::optional<Collective> found;
  for (const std::uint64_t from : {trace.last_ns() > kTail ? trace.last_ns() - kTail : 0, std::uint64_t{0}}) {
    reader::CollectiveQuery query;
    query.from_ns = from;
    query.steps = false;
    reader::read_collectives(trace, query, [&](const Collective& call) {
      if (wanted(call)) found = call;
      return !found.has_value();
    });
    if (found || from == 0) break;
  }
  return found;
}

std::optional<Collective> first_error(const reader::Trace& trace, std::uint64_t group) {
  std::optional<Collective> first;
  reader::CollectiveQuery query;
  query.steps = false;
  reader::read_collectives(trace, query, [&](const Collective& call) {
    if (is_collective_of(call, group) && is_error(call.outcome) && (!first || call.seq < first->seq)) first = call;
    return true;
  });
  return first;
}

std::optional<std::uint64_t> first_open_seq(const Subject& subject, const GroupCalls& group) {
  std::optional<std::uint64_t> first;
  const auto take = [&](std::uint64_t seq) { first = first ? std::min(*first, seq) : seq; };
  std::int64_t least = INT64_MAX;
  std::int64_t most = -1;
  for (const GroupMember& member : group.members) {
    if (!member.has_trace) continue;
    least = std::min(least, member.last_seq);
    most = std::max(most, member.last_seq);
    if (const Collective* call = oldest_pending(subject, group, member)) take(call->seq);
    if (member.failed > 0) {
      if (const auto error = first_error(subject.run().traces()[member.trace], group.id)) take(error->seq);
    }
  }
  if (least < most) take(static_cast<std::uint64_t>(least + 1));
  return first;
}

OpenCallMember standing_of(const Subject& subject, const GroupCalls& group, const GroupMember& member,
                           std::uint64_t seq) {
  OpenCallMember result;
  result.rank = member.rank;
  if (!member.has_trace) return result;
  result.trace = member.trace;
  if (member.last_seq < static_cast<std::int64_t>(seq)) {
    result.standing = Standing::kAbsent;
    return result;
  }
  result.standing = Standing::kFinished;
  if (const Collective* pending = oldest_pending(subject, group, member); pending != nullptr && pending->seq == seq) {
    result.standing = Standing::kWaiting;
    result.call = *pending;
    return result;
  }
  result.call = search(subject.run().traces()[member.trace],
                       [&](const Collective& call) { return is_collective_of(call, group.id) && call.seq == seq; });
  if (result.call && is_error(result.call->outcome)) result.standing = Standing::kFailed;
  return result;
}

}  // namespace

std::vector<const OpenCallMember*> OpenCall::with(Standing standing) const {
  std::vector<const OpenCallMember*> chosen;
  for (const OpenCallMember& member : members) {
    if (member.standing == standing) chosen.push_back(&member);
  }
  return chosen;
}

const Collective* OpenCall::example() const {
  const Collective* example = nullptr;
  for (const OpenCallMember& member : members) {
    if (!member.call) continue;
    if (member.standing == Standing::kWaiting) return &*member.call;
    if (example == nullptr) example = &*member.call;
  }
  return example;
}

std::optional<OpenCall> first_open_call(const Subject& subject, const GroupCalls& group) {
  const auto seq = first_open_seq(subject, group);
  if (!seq) return std::nullopt;
  OpenCall open;
  open.seq = *seq;
  for (const GroupMember& member : group.members) open.members.push_back(standing_of(subject, group, member, *seq));
  return open;
}

std::vector<std::int32_t> ranks_of(const std::vector<const OpenCallMember*>& members) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(members.size());
  for (const OpenCallMember* member : members) ranks.push_back(member->rank);
  return ranks;
}

}  // namespace plumbline::checks
