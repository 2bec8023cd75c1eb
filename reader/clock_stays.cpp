#include "reader/clock_stays.hpp"

#include <algorithm>

#include "reader/trace.hpp"

namespace plumbline::reader {
namespace {

// Operations that no rank can leave before the last one has entered.
bool synchronises(Op op) {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
    case Op::kAllGather:
    case Op::kAllGatherBase:
    case Op::kAllGatherCoalesced:
    case Op::kAllGatherIntoTensorCoalesced:
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
    case Op::kReduceScatterTensorCoalesced:
    case Op::kAllToAll:
    case Op::kAllToAllBase:
    case Op::kBarrier:
      return true;
    default:
      return false;
  }
}

}  // namespace

GroupStays& StayKeeper::group(std::uint64_t id) {
  const auto [at, fresh] = index_.try_emplace(id, groups_.size());
  if (fresh) groups_.emplace_back().group = id;
  return groups_[at->second];
}

void StayKeeper::add(const Collective& call) {
  const bool usable = call.layer == Layer::kC10d && call.outcome == Outcome::kCompleted && call.end_ns != 0 &&
                      call.group != 0 && synchronises(call.op);
  if (!usable) return;
  GroupStays& own = group(call.group);
  if (call.seq % own.stride != 0) return;
  own.stays.push_back({call.seq, std::max(call.enqueue_ns, call.start_ns), call.end_ns});
  if (own.stays.size() <= most_) return;
  own.stride *= 2;
  std::erase_if(own.stays, [&](const Stay& stay) { return stay.seq % own.stride != 0; });
}

std::vector<GroupStays> StayKeeper::finish(const Trace& trace) {
  std::erase_if(groups_, [&](const GroupStays& own) {
    const Group* const group = trace.group(own.group);
    return group == nullptr || group->size < 2;
  });
  for (GroupStays& own : groups_) {
    std::sort(own.stays.begin(), own.stays.end(), [](const Stay& a, const Stay& b) { return a.seq < b.seq; });
  }
  return std::move(groups_);
}

std::size_t StayKeeper::most_in(std::size_t traces) {
  constexpr std::size_t kInAll = std::size_t{1} << 18;
  return std::clamp<std::size_t>(kInAll / std::max<std::size_t>(traces, 1), 64, kMost);
}

}  // namespace plumbline::reader
