#include "checks/group_fronts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "checks/call_text.hpp"
#include "reader/call_terms.hpp"
#include "reader/group_status.hpp"

namespace plumbline::checks {
namespace {

// A name may be used again for other ranks.
std::uint64_t key_of(const reader::Group& group) {
  std::uint64_t key = std::hash<std::string>{}(group.name);
  for (const int rank : group.ranks) key = reader::mixed(key, static_cast<std::uint64_t>(rank));
  return key;
}

GroupFront empty_front(const reader::Group& group) {
  GroupFront front;
  front.name = group_name(group);
  front.system_name = group.name;
  front.backend = group.backend;
  front.members.resize(group.ranks.size());
  for (std::size_t index = 0; index < group.ranks.size(); ++index) front.members[index].rank = group.ranks[index];
  return front;
}

// NCCL's calls are asynchronous: their ends are seen only where something watches for them.
bool sees_completions(const reader::Group& group, const reader::TraceSummary& summary,
                      const std::vector<reader::GroupStatus>& statuses) {
  if (!statuses.empty()) return true;
  if (group.backend.find("nccl") == std::string::npos) return true;
  return summary.events[static_cast<std::size_t>(recorder::Kind::kCollectiveEnd)] > 0;
}

// An imported dump may hold the numbers of a group and no call of it.
void take_statuses(const std::vector<reader::GroupStatus>& statuses, FrontMember& member) {
  for (const reader::GroupStatus& status : statuses) {
    if (status.group != member.group || status.counts_point_to_point) continue;
    member.counts_only = member.enqueued < 0;
    member.enqueued = std::max(member.enqueued, status.enqueued);
    member.started = std::max(member.started, status.started);
    member.completed = std::max(member.completed, status.completed);
  }
}

void fill(FrontMember& member, std::size_t index, const reader::Group& group, const reader::TraceSummary& summary) {
  const reader::GroupLedger* ledger = summary.ledger.group(group.id);
  // A second process of the same rank is a helper of the first: the one that calls counts.
  if (member.has_trace && ledger == nullptr) return;
  member.has_trace = true;
  member.trace = index;
  member.group = group.id;
  if (ledger != nullptr) {
    member.enqueued = ledger->collectives.last;
    member.started = ledger->started;
    member.completed = ledger->completed;
  }
}

// Of a group of all ranks, the member stands at its rank.
FrontMember* find_member(GroupFront& front, const reader::Group& group, std::int32_t rank) {
  const auto local = static_cast<std::size_t>(group.rank);
  if (group.rank >= 0 && local < front.members.size() && front.members[local].rank == rank)
    return &front.members[local];
  for (FrontMember& member : front.members) {
    if (member.rank == rank) return &member;
  }
  return nullptr;
}

}  // namespace

std::vector<Attempt> attempts_of(const reader::Run& run) {
  std::set<Attempt> attempts;
  for (const reader::Trace& trace : run.traces()) attempts.insert({trace.launch(), trace.attempt()});
  return {attempts.begin(), attempts.end()};
}

std::string attempt_prefix(const reader::Run& run, Attempt attempt) {
  if (attempts_of(run).size() < 2) return {};
  if (run.launches() > 1) return fmt::format("launch {}, attempt {}: ", attempt.launch, attempt.number);
  return fmt::format("attempt {}: ", attempt.number);
}

bool belongs(const reader::Trace& trace, Attempt attempt) {
  return trace.launch() == attempt.launch && trace.attempt() == attempt.number;
}

std::vector<std::int32_t> GroupFront::ranks() const {
  std::vector<std::int32_t> all;
  all.reserve(members.size());
  for (const FrontMember& member : members) all.push_back(member.rank);
  return all;
}

const FrontMember* GroupFront::member(std::int32_t rank) const {
  const auto at =
      std::find_if(members.begin(), members.end(), [&](const FrontMember& member) { return member.rank == rank; });
  return at == members.end() ? nullptr : &*at;
}

std::vector<GroupFront> group_fronts(const Subject& subject, Attempt attempt) {
  std::vector<GroupFront> fronts;
  std::unordered_map<std::uint64_t, std::size_t> index_of;
  std::unordered_map<std::int32_t, std::size_t> trace_of;
  const auto& traces = subject.run().traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (!belongs(trace, attempt)) continue;
    trace_of.try_emplace(trace.rank(), index);
    const reader::TraceSummary& summary = subject.summaries()[index];
    const std::vector<reader::GroupStatus> statuses = reader::group_statuses(trace);
    for (const reader::Group& group : trace.definitions().groups) {
      const auto [at, added] = index_of.try_emplace(key_of(group), fronts.size());
      if (added) fronts.push_back(empty_front(group));
      GroupFront& front = fronts[at->second];
      front.completions_seen = front.completions_seen && sees_completions(group, summary, statuses);
      FrontMember* member = find_member(front, group, trace.rank());
      if (member == nullptr) continue;
      fill(*member, index, group, summary);
      take_statuses(statuses, *member);
    }
  }
  // A process that never saw the group, and so never called in it, still belongs to it.
  for (GroupFront& front : fronts) {
    for (FrontMember& member : front.members) {
      if (member.has_trace) continue;
      const auto at = trace_of.find(member.rank);
      if (at == trace_of.end()) continue;
      member.has_trace = true;
      member.trace = at->second;
    }
  }
  return fronts;
}

}  // namespace plumbline::checks
