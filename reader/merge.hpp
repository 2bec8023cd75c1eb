// The rows of a frame in time order, over all threads and all kinds of event.
//
//   for_each_row(frame, [&](const Row& row) {
//     if (row.type == kAllocations) use(frame.allocations[row.batch].address[row.row]);
//     return true;
//   });
#pragma once

#include <algorithm>
#include <vector>

#include "reader/batch.hpp"

namespace plumbline::reader {

struct Row {
  Kinds type = 0;           // exactly one bit: which span of the frame `batch` indexes
  std::uint32_t batch = 0;  // index in that span
  std::size_t row = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t ring = 0;
};

// A k-way merge by time. Batches are in order but for a few neighbours, so the merge is too. Keep one and use it for
// every frame: it holds on to its memory.
class RowMerger {
 public:
  void start(const FrameView& frame);
  bool next(Row& row);

 private:
  struct Source {
    Column time_ns;
    Row row;
  };
  template <class Batch>
  void add(std::span<const Batch> batches, Kinds type);
  static bool later(const Source& a, const Source& b);

  std::vector<Source> heap_;
};

template <class Visit>
void for_each_row(const FrameView& frame, Visit&& visit) {
  RowMerger merger;
  merger.start(frame);
  for (Row row; merger.next(row);)
    if (!visit(row)) return;
}

}  // namespace plumbline::reader
