#include "reader/export/slices.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace plumbline::reader {

void sort_for_nesting(std::vector<Slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return a.depth < b.depth;
  });
}

std::vector<Slice> take_crossing(std::vector<Slice>& sorted) {
  std::vector<Slice> crossing;
  std::vector<std::uint64_t> open_ends;
  const auto crosses = [&](const Slice& slice) {
    while (!open_ends.empty() && open_ends.back() <= slice.begin_ns) open_ends.pop_back();
    if (!open_ends.empty() && slice.end_ns > open_ends.back()) {
      crossing.push_back(slice);
      return true;
    }
    open_ends.push_back(slice.end_ns);
    return false;
  };
  // Not erase_if: it may call its predicate in an order of its own.
  std::vector<Slice> kept;
  kept.reserve(sorted.size());
  for (const Slice& slice : sorted) {
    if (!crosses(slice)) kept.push_back(slice);
  }
  sorted = std::move(kept);
  return crossing;
}

std::vector<std::size_t> lanes_of(const std::vector<Slice>& sorted) {
  using Lane = std::pair<std::uint64_t, std::size_t>;  // end of its last slice, number
  std::priority_queue<Lane, std::vector<Lane>, std::greater<>> busy;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  std::vector<std::size_t> lanes;
  lanes.reserve(sorted.size());
  for (const Slice& slice : sorted) {
    while (!busy.empty() && busy.top().first <= slice.begin_ns) {
      free.push(busy.top().second);
      busy.pop();
    }
    std::size_t lane = busy.size();
    if (!free.empty()) {
      lane = free.top();
      free.pop();
    }
    busy.emplace(slice.end_ns, lane);
    lanes.push_back(lane);
  }
  return lanes;
}

}  // namespace plumbline::reader
