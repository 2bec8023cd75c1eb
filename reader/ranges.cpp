#include "reader/ranges.hpp"

#include <algorithm>

#include "reader/merge.hpp"

namespace plumbline::reader {

void RangeJoin::add(const FrameView& frame, const Visit& visit) {
  for_each_row({.ranges = frame.ranges}, [&](const Row& row) {
    const RangeBatch& batch = frame.ranges[row.batch];
    const std::size_t i = row.row;
    const bool begins = batch.kind[i] == static_cast<std::uint8_t>(Kind::kRangeBegin);
    const auto [it, fresh] = open_.try_emplace(batch.handle[i]);
    Range& range = it->second;
    range.handle = batch.handle[i];
    (begins ? range.begin_ns : range.end_ns) = batch.time_ns[i];
    if (fresh || begins) {
      range.name = batch.name[i];
      range.depth = static_cast<std::uint32_t>(batch.depth[i]);
      range.scope = static_cast<std::uint32_t>(batch.scope[i]);
      range.ring = batch.ring;
      range.place = batch.place;
    }
    // An end without a begin waits: the begin may be on a thread that was drained later.
    if (range.begin_ns != 0 && range.end_ns != 0) {
      visit(range);
      open_.erase(it);
    }
    return true;
  });
}

void RangeJoin::finish(const Visit& visit) {
  std::vector<Range> left;
  for (auto& [handle, range] : open_) left.push_back(range);
  std::sort(left.begin(), left.end(), [](const Range& a, const Range& b) {
    return std::max(a.begin_ns, a.end_ns) < std::max(b.begin_ns, b.end_ns);
  });
  for (const Range& range : left) visit(range);
  open_.clear();
}

void read_ranges(const Trace& trace, const Query& window, const std::function<bool(const Range&)>& visit) {
  RangeJoin join;
  bool more = true;
  const auto give = [&](const Range& range) {
    const std::uint64_t last = range.end_ns != 0 ? range.end_ns : std::numeric_limits<std::uint64_t>::max();
    if (more && last >= window.from_ns && range.begin_ns <= window.to_ns) more = visit(range);
  };
  trace.read({.kinds = kRanges}, [&](const FrameView& frame) {
    join.add(frame, give);
    return more;
  });
  join.finish(give);
}

}  // namespace plumbline::reader
