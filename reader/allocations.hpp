// Allocations: counts, live bytes and peaks, by source and device, with frees joined to their allocation.
//
//   AllocationAnalyzer analyzer;
//   trace.read({.kinds = kAllocations}, [&](const FrameView& frame) { analyzer.add(frame); return true; });
//   for (const AllocationStats& s : analyzer.stats()) …
//
// Memory grows with the live set, not with the trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reader/batch.hpp"
#include "reader/flat_map.hpp"
#include "reader/merge.hpp"

namespace plumbline::reader {

struct AllocationStats {
  Source source = Source::kCpu;
  int device = -1;
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t failures = 0;
  std::uint64_t bytes = 0;  // allocated in all
  std::uint64_t largest = 0;
  std::uint64_t failed_bytes = 0;  // the largest request that failed
  std::uint64_t live = 0;          // at the end
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::uint64_t unmatched_frees = 0;  // of memory allocated before the recording began, or by a dropped event
  std::uint64_t replaced = 0;         // allocations at an address that was still live: its free is missing
};

struct LiveAllocation {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t time_ns = 0;
  Source source = Source::kCpu;
  int device = -1;
};

class AllocationAnalyzer {
 public:
  void add(const FrameView& frame);

  std::span<const AllocationStats> stats() const { return stats_; }
  AllocationStats total(bool device_memory) const;  // host or device sources together, without those that nest
  std::vector<LiveAllocation> live() const;         // what was not freed, largest first
  // Called at each new value of live bytes of a source and device, when set: for counter tracks.
  using Observer = void (*)(void* context, const AllocationStats& stats, std::uint64_t time_ns);
  void observe(Observer observer, void* context);

 private:
  AllocationStats& stats_of(std::uint64_t tag);
  void add_rows(const AllocationBatch& batch, std::size_t first, std::size_t last);
  void allocate(std::uint64_t tag, std::uint64_t time_ns, std::uint64_t address, std::uint64_t size);
  void release(std::uint64_t tag, std::uint64_t time_ns, std::uint64_t address);

  struct Block {
    std::uint64_t size = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t tag = 0;
  };
  FlatMap<Block> blocks_;
  std::vector<AllocationStats> stats_;
  std::vector<std::uint64_t> tags_;  // beside stats_
  std::size_t last_tag_ = 0;
  RowMerger merger_;
  Observer observer_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace plumbline::reader
