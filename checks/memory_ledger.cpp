#include "checks/memory_ledger.hpp"

#include <algorithm>

#include "checks/call_text.hpp"
#include "reader/allocation_space.hpp"

namespace plumbline::checks {

using recorder::Kind;

MemoryLedger::MemoryLedger(const reader::Trace& trace) : trace_(trace), steps_(trace.steps()) {}

std::uint32_t MemoryLedger::pool_of(std::uint64_t tag) {
  const auto found = std::find(tags_.begin(), tags_.end(), tag);
  const auto index = static_cast<std::uint32_t>(found - tags_.begin());
  if (found == tags_.end()) {
    tags_.push_back(tag);
    MemoryPool pool;
    pool.source = recorder::source_of(static_cast<std::uint32_t>(tag));
    pool.device = recorder::device_of(static_cast<std::uint32_t>(tag));
    pools_.push_back(pool);
  }
  return index;
}

std::int64_t MemoryLedger::step_at(std::uint64_t time_ns) {
  if (step_ >= 0 && time_ns >= window_.from_ns && time_ns <= window_.to_ns) return step_;
  step_ = steps_.step_at(time_ns);
  // The step that was not finished has no window.
  window_ = step_ < steps_.count() ? steps_.window(step_) : reader::StepTimeline::Window{1, 0};
  return step_;
}

void MemoryLedger::range_row(const reader::RangeBatch& batch, std::size_t row) {
  std::vector<OpenRange>& open = ranges_[batch.ring];
  if (static_cast<Kind>(batch.kind[row]) == Kind::kRangeBegin) {
    if (!is_backend_range(trace_.text(batch.name[row]))) open.push_back({batch.handle[row], batch.name[row]});
    return;
  }
  const auto found = std::find_if(open.rbegin(), open.rend(),
                                  [&](const OpenRange& range) { return range.handle == batch.handle[row]; });
  if (found != open.rend()) open.erase(std::next(found).base());
}

void MemoryLedger::forget(const MemoryBlock& block) {
  pools_[block.pool].live_bytes -= block.size;
  --pools_[block.pool].live_blocks;
}

void MemoryLedger::allocation_row(const reader::AllocationBatch& batch, std::size_t row, const Visit& visit) {
  MemoryEvent event;
  event.kind = static_cast<Kind>(batch.kind[row]);
  event.number = events_++;
  event.time_ns = batch.time_ns[row];
  event.step = step_at(event.time_ns);
  event.frame_offset = batch.place.frame_offset;
  const std::uint64_t tag = batch.tag[row];
  const std::uint64_t key = reader::address_key(tag, batch.address[row]);
  if (event.kind == Kind::kFree) {
    auto* const entry = blocks_.find(key);
    if (entry == nullptr) {
      event.block.pool = pool_of(tag);
    } else if (event.time_ns < entry->value.time_ns) {
      return;  // of the block that stood here before: its thread was drained later than that of the new one
    } else {
      event.block = entry->value;
      forget(event.block);
      blocks_.erase(entry);
    }
  } else {
    const auto open = ranges_.find(batch.ring);
    event.block = {batch.address[row], batch.size[row], event.time_ns, 0, event.step, pool_of(tag)};
    if (open != ranges_.end() && !open->second.empty()) event.block.range = open->second.back().name;
    if (event.kind == Kind::kAlloc) {
      const auto [entry, found] = blocks_.insert(key);
      if (found) {
        ++pools_[entry->value.pool].lost_frees;
        forget(entry->value);
      }
      entry->value = event.block;
      pools_[event.block.pool].live_bytes += event.block.size;
      ++pools_[event.block.pool].live_blocks;
    }
  }
  visit(event);
}

void MemoryLedger::add(const reader::FrameView& frame, const Visit& visit) {
  merger_.start({.allocations = frame.allocations, .ranges = frame.ranges});
  for (reader::Row row; merger_.next(row);) {
    if (row.type == reader::kRanges) {
      range_row(frame.ranges[row.batch], row.row);
    } else {
      allocation_row(frame.allocations[row.batch], row.row, visit);
    }
  }
}

}  // namespace plumbline::checks
