#include "checks/usual_path.hpp"

#include <deque>

namespace plumbline::checks {
namespace {

using reader::Collective;

constexpr std::size_t kMostCalls = 4096;
constexpr std::uint64_t kLookBack = 600'000'000'000;
// A path is told by the two calls that lead to a third.
constexpr std::size_t kLead = 2;

// Sizes may change from step to step.
bool same_place(const Collective& a, const Collective& b) {
  return a.group == b.group && a.op == b.op && a.peer == b.peer && a.site == b.site;
}

std::deque<Collective> calls_up_to(const reader::Trace& trace, const Collective& call) {
  reader::Query query{.kinds = reader::kCollectives, .to_ns = call.enqueue_ns};
  query.from_ns = call.enqueue_ns > kLookBack ? call.enqueue_ns - kLookBack : 0;
  std::deque<Collective> calls;
  trace.read(query, [&](const reader::FrameView& frame) {
    for (const reader::CollectiveBatch& batch : frame.collectives) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (batch.parent[row] != 0 || !query.contains(batch.time_ns[row])) continue;
        calls.push_back(reader::collective_of(batch, row));
        if (calls.size() > kMostCalls) calls.pop_front();
      }
    }
    return true;
  });
  // What other threads called in the same moment.
  while (!calls.empty() && calls.back().id != call.id) calls.pop_back();
  return calls;
}

}  // namespace

PathStep path_to(const reader::Trace& trace, const Collective& call) {
  const std::deque<Collective> calls = calls_up_to(trace, call);
  if (calls.size() <= kLead) return {};
  const std::size_t last = calls.size() - 1;
  for (std::size_t earlier = last - 1; earlier >= kLead; --earlier) {
    bool same_lead = true;
    for (std::size_t back = 1; back <= kLead && same_lead; ++back)
      same_lead = same_place(calls[earlier - back], calls[last - back]);
    if (!same_lead) continue;
    if (same_place(calls[earlier], calls[last])) return {Habit::kKept, {}};
    return {Habit::kBroken, calls[earlier]};
  }
  return {};
}

}  // namespace plumbline::checks
