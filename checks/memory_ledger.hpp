// The live set of one process as its trace goes by: every block with its birth, the step and the range it was made in.
//
//   MemoryLedger ledger(trace);
//   trace.read(MemoryLedger::query(), [&](const reader::FrameView& frame) {
//     ledger.add(frame, [&](const MemoryEvent& event) { … ledger.pools() … });
//     return true;
//   });
//
// Memory grows with the live set and the number of steps, not with the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "reader/batch.hpp"
#include "reader/flat_map.hpp"
#include "reader/merge.hpp"
#include "reader/steps.hpp"
#include "reader/trace.hpp"

namespace plumbline::checks {

struct MemoryBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t range = 0;  // text: innermost range of the thread then, 0 none
  std::int64_t step = 0;    // logical step
  std::uint32_t pool = 0;
};

// What one source handed out on one device.
struct MemoryPool {
  recorder::Source source = recorder::Source::kCpu;
  int device = -1;
  std::uint64_t live_bytes = 0;
  std::uint64_t live_blocks = 0;
  std::uint64_t lost_frees = 0;  // an address was handed out again that nobody was seen to free
};

struct MemoryEvent {
  recorder::Kind kind = recorder::Kind::kAlloc;
  std::uint64_t number = 0;  // of the allocator's events in the trace, from 0
  MemoryBlock block;         // of a free: what was freed; size 0 when it was not known
  std::uint64_t time_ns = 0;
  std::int64_t step = 0;
  std::uint64_t frame_offset = 0;
};

class MemoryLedger {
 public:
  using Visit = std::function<void(const MemoryEvent& event)>;

  explicit MemoryLedger(const reader::Trace& trace);

  static reader::Query query() { return {.kinds = reader::kAllocations | reader::kRanges}; }
  void add(const reader::FrameView& frame, const Visit& visit);

  const std::vector<MemoryPool>& pools() const { return pools_; }
  template <class See>
  void for_each_live(See&& see) const {
    blocks_.for_each([&](const auto& entry) { see(entry.value); });
  }

 private:
  struct OpenRange {
    std::uint64_t handle = 0;
    std::uint64_t name = 0;
  };

  std::uint32_t pool_of(std::uint64_t tag);
  std::int64_t step_at(std::uint64_t time_ns);
  void range_row(const reader::RangeBatch& batch, std::size_t row);
  void allocation_row(const reader::AllocationBatch& batch, std::size_t row, const Visit& visit);
  void forget(const MemoryBlock& block);

  const reader::Trace& trace_;
  const reader::StepTimeline& steps_;
  reader::StepTimeline::Window window_;  // of the step that the last event was in
  std::int64_t step_ = -1;
  std::uint64_t events_ = 0;
  reader::FlatMap<MemoryBlock> blocks_;
  std::vector<MemoryPool> pools_;
  std::vector<std::uint64_t> tags_;                                   // beside pools_
  std::unordered_map<std::uint32_t, std::vector<OpenRange>> ranges_;  // by ring
  reader::RowMerger merger_;
};

}  // namespace plumbline::checks
