#include "reader/allocations.hpp"

#include <algorithm>

#include "reader/allocation_space.hpp"

namespace plumbline::reader {
namespace {

bool on_device(Source source) { return source != Source::kCpu && source != Source::kCudaHost; }

// Segments and blocks lie within what the runtime calls handed out; with expandable segments there are no such calls.
bool nests(Source source) { return source == Source::kCachingBlock || source == Source::kCachingSegment; }

}  // namespace

void AllocationAnalyzer::observe(Observer observer, void* context) {
  observer_ = observer;
  context_ = context;
}

AllocationStats& AllocationAnalyzer::stats_of(std::uint64_t tag) {
  if (last_tag_ < tags_.size() && tags_[last_tag_] == tag) return stats_[last_tag_];
  last_tag_ = static_cast<std::size_t>(std::find(tags_.begin(), tags_.end(), tag) - tags_.begin());
  if (last_tag_ == tags_.size()) {
    tags_.push_back(tag);
    AllocationStats& fresh = stats_.emplace_back();
    fresh.source = recorder::source_of(static_cast<std::uint32_t>(tag));
    fresh.device = recorder::device_of(static_cast<std::uint32_t>(tag));
  }
  return stats_[last_tag_];
}

void AllocationAnalyzer::allocate(std::uint64_t tag, std::uint64_t time_ns, std::uint64_t address, std::uint64_t size) {
  AllocationStats& stats = stats_of(tag);
  ++stats.allocations;
  stats.bytes += size;
  stats.largest = std::max(stats.largest, size);
  const auto [entry, found] = blocks_.insert(address_key(tag, address));
  if (found) {
    AllocationStats& before = stats_of(entry->value.tag);
    --before.live;
    before.live_bytes -= entry->value.size;
    ++before.replaced;
  }
  AllocationStats& now = stats_of(tag);
  entry->value = {size, time_ns, tag};
  ++now.live;
  now.live_bytes += size;
  if (now.live_bytes > now.peak_bytes) {
    now.peak_bytes = now.live_bytes;
    now.peak_ns = time_ns;
  }
  if (observer_ != nullptr) observer_(context_, now, time_ns);
}

void AllocationAnalyzer::release(std::uint64_t tag, std::uint64_t time_ns, std::uint64_t address) {
  FlatMap<Block>::Entry* const entry = blocks_.find(address_key(tag, address));
  if (entry == nullptr) {
    AllocationStats& stats = stats_of(tag);
    ++stats.frees;
    ++stats.unmatched_frees;
    return;
  }
  AllocationStats& stats = stats_of(entry->value.tag);
  ++stats.frees;
  if (time_ns < entry->value.time_ns && stats.replaced != 0) {
    // The free of the allocation that stood here before: its thread was drained later than that of the new one.
    --stats.replaced;
    return;
  }
  --stats.live;
  stats.live_bytes -= entry->value.size;
  blocks_.erase(entry);
  if (observer_ != nullptr) observer_(context_, stats, time_ns);
}

void AllocationAnalyzer::add_rows(const AllocationBatch& batch, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    switch (static_cast<Kind>(batch.kind[i])) {
      case Kind::kAlloc:
        allocate(batch.tag[i], batch.time_ns[i], batch.address[i], batch.size[i]);
        break;
      case Kind::kFree:
        release(batch.tag[i], batch.time_ns[i], batch.address[i]);
        break;
      default: {
        AllocationStats& stats = stats_of(batch.tag[i]);
        ++stats.failures;
        stats.failed_bytes = std::max(stats.failed_bytes, batch.size[i]);
        break;
      }
    }
  }
}

void AllocationAnalyzer::add(const FrameView& frame) {
  // One thread's events are in order already.
  if (frame.allocations.size() == 1) return add_rows(frame.allocations[0], 0, frame.allocations[0].count);
  merger_.start({.allocations = frame.allocations});
  for (Row row; merger_.next(row);) add_rows(frame.allocations[row.batch], row.row, row.row + 1);
}

AllocationStats AllocationAnalyzer::total(bool device_memory) const {
  AllocationStats total;
  total.source = device_memory ? Source::kCudaMalloc : Source::kCpu;
  for (const AllocationStats& s : stats_) {
    if (on_device(s.source) != device_memory || nests(s.source)) continue;
    total.allocations += s.allocations;
    total.frees += s.frees;
    total.failures += s.failures;
    total.bytes += s.bytes;
    total.largest = std::max(total.largest, s.largest);
    total.failed_bytes = std::max(total.failed_bytes, s.failed_bytes);
    total.live += s.live;
    total.live_bytes += s.live_bytes;
    total.unmatched_frees += s.unmatched_frees;
    total.replaced += s.replaced;
  }
  return total;
}

std::vector<LiveAllocation> AllocationAnalyzer::live() const {
  std::vector<LiveAllocation> live;
  live.reserve(blocks_.size());
  blocks_.for_each([&](const FlatMap<Block>::Entry& entry) {
    const Block& block = entry.value;
    const auto tag = static_cast<std::uint32_t>(block.tag);
    live.push_back({entry.key ^ address_key(block.tag, 0), block.size, block.time_ns, recorder::source_of(tag),
                    recorder::device_of(tag)});
  });
  std::sort(live.begin(), live.end(), [](const LiveAllocation& a, const LiveAllocation& b) {
    return a.size != b.size ? a.size > b.size : a.time_ns < b.time_ns;
  });
  return live;
}

}  // namespace plumbline::reader
