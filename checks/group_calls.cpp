#include "checks/group_calls.hpp"

#include <map>
#include <utility>

#include "checks/call_text.hpp"

namespace plumbline::checks {
namespace {

using Key = std::pair<std::string, std::vector<int>>;  // a name may be used again for other ranks

GroupCalls empty_group(const reader::Group& group) {
  GroupCalls calls;
  calls.id = group.id;
  calls.name = group_name(group);
  calls.backend = group.backend;
  for (const int rank : group.ranks) {
    GroupMember member;
    member.rank = rank;
    calls.members.push_back(member);
  }
  return calls;
}

// NCCL's calls are asynchronous: their ends are seen only where something watches for them.
bool sees_completions(const reader::Group& group, const reader::TraceSummary& summary) {
  if (group.backend.find("nccl") == std::string::npos) return true;
  return summary.events[static_cast<std::size_t>(recorder::Kind::kCollectiveEnd)] > 0;
}

void fill_member(GroupMember& member, std::size_t trace, const reader::GroupActivity* activity) {
  member.has_trace = true;
  member.trace = trace;
  if (activity == nullptr) return;
  const bool any_collective = activity->calls > activity->point_to_point;
  member.last_seq = any_collective ? static_cast<std::int64_t>(activity->last_seq) : -1;
  member.failed = activity->failed;
  member.pending = activity->pending;
}

const reader::GroupActivity* activity_of(const reader::TraceSummary& summary, std::uint64_t group) {
  for (const reader::GroupActivity& activity : summary.groups) {
    if (activity.group == group) return &activity;
  }
  return nullptr;
}

}  // namespace

std::vector<std::int32_t> GroupCalls::ranks() const {
  std::vector<std::int32_t> all;
  for (const GroupMember& member : members) all.push_back(member.rank);
  return all;
}

std::vector<GroupCalls> group_calls(const Subject& subject, int launch, int attempt) {
  std::vector<GroupCalls> groups;
  std::map<Key, std::size_t> index_of;
  const auto& traces = subject.run().traces();
  for (std::size_t index = 0; index < traces.size(); ++index) {
    const reader::Trace& trace = traces[index];
    if (trace.launch() != launch || trace.attempt() != attempt) continue;
    const reader::TraceSummary& summary = subject.summaries()[index];
    for (const reader::Group& group : trace.definitions().groups) {
      const auto [at, added] = index_of.try_emplace({group.name, group.ranks}, groups.size());
      if (added) groups.push_back(empty_group(group));
      GroupCalls& calls = groups[at->second];
      calls.completions_seen = calls.completions_seen && sees_completions(group, summary);
      for (GroupMember& member : calls.members) {
        if (member.rank == trace.rank()) fill_member(member, index, activity_of(summary, group.id));
      }
    }
  }
  // A process that never saw the group, and so never called in it, still belongs to it.
  for (GroupCalls& calls : groups) {
    for (GroupMember& member : calls.members) {
      if (member.has_trace) continue;
      for (std::size_t index = 0; index < traces.size(); ++index) {
        const reader::Trace& trace = traces[index];
        if (trace.launch() == launch && trace.attempt() == attempt && trace.rank() == member.rank) {
          fill_member(member, index, nullptr);
        }
      }
    }
  }
  return groups;
}

}  // namespace plumbline::checks
