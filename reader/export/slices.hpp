// Slices on their way to a track: brought into an order and a nesting that a viewer can draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumbline::reader {

struct Slice {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  // not before begin_ns
  std::uint32_t depth = 0;   // decides which one is the outer of two that cover the same time
  std::size_t payload = 0;   // the caller's
};

// Outer slices before the inner ones that begin with them.
void sort_for_nesting(std::vector<Slice>& slices);

// Takes out of sorted slices those that cross the end of one around them: ranges that were begun on another thread, or
// left in another order than they were entered. What stays nests.
std::vector<Slice> take_crossing(std::vector<Slice>& sorted);

// Numbers of lanes such that no two slices of a lane overlap, one for each of `sorted`.
std::vector<std::size_t> lanes_of(const std::vector<Slice>& sorted);

// Gives begins and ends in the order of time: `begin(slice)`, `end(slice)`. `nested` has to be sorted and to nest.
template <class Begin, class End>
void walk(const std::vector<Slice>& nested, const Begin& begin, const End& end) {
  std::vector<const Slice*> open;
  for (const Slice& slice : nested) {
    while (!open.empty() && open.back()->end_ns <= slice.begin_ns) {
      end(*open.back());
      open.pop_back();
    }
    begin(slice);
    open.push_back(&slice);
  }
  for (; !open.empty(); open.pop_back()) end(*open.back());
}

}  // namespace plumbline::reader
