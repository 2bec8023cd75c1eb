#include "reader/merge.hpp"

namespace plumbline::reader {

bool RowMerger::later(const Source& a, const Source& b) {
  if (a.row.time_ns != b.row.time_ns) return a.row.time_ns > b.row.time_ns;
  return std::pair(a.row.type, a.row.batch) > std::pair(b.row.type, b.row.batch);
}

template <class Batch>
void RowMerger::add(std::span<const Batch> batches, Kinds type) {
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].count == 0) continue;
    const Row row{type, static_cast<std::uint32_t>(i), 0, batches[i].time_ns[0], batches[i].ring};
    heap_.push_back({batches[i].time_ns, row});
  }
}

void RowMerger::start(const FrameView& frame) {
  heap_.clear();
  add(frame.allocations, kAllocations);
  add(frame.collectives, kCollectives);
  add(frame.marks, kMarks);
  add(frame.ranges, kRanges);
  add(frame.steps, kSteps);
  add(frame.step_groups, kStepGroups);
  add(frame.samples, kSamples);
  add(frame.comms, kComms);
  add(frame.device_works, kDeviceWorks);
  std::make_heap(heap_.begin(), heap_.end(), later);
}

bool RowMerger::next(Row& row) {
  if (heap_.empty()) return false;
  row = heap_.front().row;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Source& source = heap_.back();
  if (++source.row.row == source.time_ns.size()) {
    heap_.pop_back();
    return true;
  }
  source.row.time_ns = source.time_ns[source.row.row];
  std::push_heap(heap_.begin(), heap_.end(), later);
  return true;
}

}  // namespace plumbline::reader
