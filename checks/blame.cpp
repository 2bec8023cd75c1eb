#include "checks/blame.hpp"

#include <algorithm>
#include <cstdint>

#include "checks/ending.hpp"
#include "reader/call_terms.hpp"

namespace plumbline::checks {
namespace {

bool same_call(const Party& a, const Party& b) { return reader::call_terms(*a.call) == reader::call_terms(*b.call); }

// The parties whose call differs from what most called. With no majority nobody can be named: all of them.
std::vector<const Party*> outvoted(const std::vector<const Party*>& callers) {
  if (callers.empty()) return {};
  std::vector<std::vector<const Party*>> kinds;
  for (const Party* caller : callers) {
    const auto alike =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return same_call(*kind.front(), *caller); });
    if (alike == kinds.end()) {
      kinds.push_back({caller});
    } else {
      alike->push_back(caller);
    }
  }
  if (kinds.size() == 1) return {};
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (kinds[0].size() == kinds[1].size()) return callers;
  std::vector<const Party*> odd;
  for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
    odd.insert(odd.end(), kinds[kind].begin(), kinds[kind].end());
  }
  return odd;
}

// When the call failed first on a rank; INT64_MAX where it failed on none.
std::int64_t first_failure(const Subject& subject, const OpenOp& op) {
  std::int64_t first = INT64_MAX;
  for (const Party* party : op.with(Standing::kFailed)) {
    const std::uint64_t time = party->call->end_ns != 0 ? party->call->end_ns : party->call->return_ns;
    first = std::min(first, subject.clock().since_start(party->trace, time));
  }
  return first;
}

// Parties whose process ended inside the call, if that was before the others' failure or end: when a launcher ends the
// remaining ranks, the first one that went is the one to look at.
std::vector<const Party*> ended_inside(const Subject& subject, const OpenOp& op) {
  std::vector<const Party*> ended;
  std::int64_t earliest = INT64_MAX;
  const auto waiting = op.with(Standing::kWaiting);
  std::vector<std::int64_t> end_times;
  for (const Party* party : waiting) {
    const Ending& ending = subject.ending(party->trace);
    const std::int64_t time = ending.ended() ? subject.clock().since_start(party->trace, ending.time_ns) : INT64_MAX;
    end_times.push_back(time);
    earliest = std::min(earliest, time);
  }
  if (earliest == INT64_MAX) return ended;
  // All of them ended, none failed: with nobody left behind, a common outer cause is as likely.
  const std::int64_t failure = first_failure(subject, op);
  const bool left_behind = !op.with(Standing::kFailed).empty() ||
                           std::any_of(end_times.begin(), end_times.end(), [](auto time) { return time == INT64_MAX; });
  for (std::size_t index = 0; index < waiting.size(); ++index) {
    const bool first = end_times[index] == earliest;
    const bool own = subject.ending(waiting[index]->trace).bad_by_itself();
    const bool before = end_times[index] != INT64_MAX && (own || end_times[index] <= failure);
    if (left_behind ? before : first && own && waiting.size() > 1) {
      ended.push_back(waiting[index]);
    }
  }
  return ended;
}

}  // namespace

Blame blame_for(const Subject& subject, const OpenOp& op) {
  std::vector<const Party*> callers;
  std::vector<const Party*> raised;
  for (const Party& party : op.parties) {
    if (party.call == nullptr) continue;
    callers.push_back(&party);
    if (party.call->outcome == reader::Outcome::kRaised) raised.push_back(&party);
  }
  if (!op.point_to_point) {
    if (auto odd = outvoted(callers); !odd.empty()) return {Cause::kMismatch, std::move(odd)};
  }
  if (!raised.empty()) return {Cause::kRaised, std::move(raised)};
  if (auto ended = ended_inside(subject, op); !ended.empty()) return {Cause::kEndedInside, std::move(ended)};
  const auto waiting = op.with(Standing::kWaiting);
  if (!op.with(Standing::kFinished).empty() && !waiting.empty()) return {Cause::kUnfinished, waiting};
  return {};
}

std::vector<std::int32_t> ranks_of(const std::vector<const Party*>& parties) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(parties.size());
  for (const Party* party : parties) ranks.push_back(party->rank);
  return ranks;
}

}  // namespace plumbline::checks
