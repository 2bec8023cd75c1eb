// The two ends of a ring: write_record() for its thread, RingReader for the writer thread.
//
// One producer, one consumer. The producer publishes a record with a release store of `head`; the consumer gives room
// back with a release store of `tail`. A record is contiguous: where it would wrap, a kSkip record fills the end.
#pragma once

#include <cstring>

#include "recorder/record_bytes.hpp"
#include "recorder/ring_file.hpp"

namespace plumbline::recorder {

inline std::byte* slots_of_ring(RingHeader& ring) noexcept {
  return reinterpret_cast<std::byte*>(&ring) + ring.slots_distance;
}

inline HookCounters& hook_counters(RingHeader& ring) noexcept {
  return *reinterpret_cast<HookCounters*>(slots_of_ring(ring) - sizeof(HookCounters));
}

// False: no room. Only the ring's own thread may call it.
inline bool write_record(RingHeader& ring, const RecordHeader& record) noexcept {
  const std::uint64_t head = ring.head.load(std::memory_order_relaxed);
  const std::uint64_t used = head - ring.tail.load(std::memory_order_acquire);
  const std::uint64_t index = head & (ring.capacity - 1);
  const std::uint64_t to_end = ring.capacity - index;
  const std::uint64_t skip = record.slots > to_end ? to_end : 0;
  if (used + skip + record.slots > ring.capacity) return false;

  std::byte* slots = slots_of_ring(ring);
  std::byte* target = slots + index * kSlotBytes;
  if (skip != 0) [[unlikely]] {
    const RecordHeader filler{record.time_ns, Kind::kSkip, static_cast<std::uint8_t>(skip), 0, 0};
    std::memcpy(target, &filler, sizeof(filler));
    target = slots;
  }
  // Every record of one slot is exactly one slot long; a constant length keeps the common case free of a call.
  if (record.slots == 1) [[likely]] {
    std::memcpy(target, &record, kSlotBytes);
  } else {
    std::memcpy(target, &record, record_bytes(record));
  }
  ring.head.store(head + skip + record.slots, std::memory_order_release);
  return true;
}

// Walks the records between two slot numbers of a ring that the caller knows to be published and not yet freed.
class RingReader {
 public:
  RingReader(RingHeader& ring, std::uint64_t from, std::uint64_t to) noexcept
      : slots_(slots_of_ring(ring)), mask_(ring.capacity - 1), at_(from), end_(to) {}

  // Null at the end, or where the slots make no sense (a job that writes over foreign memory): see damaged().
  const RecordHeader* next() noexcept {
    while (at_ < end_) {
      const auto* record = reinterpret_cast<const RecordHeader*>(slots_ + (at_ & mask_) * kSlotBytes);
      const std::uint64_t to_wrap = mask_ + 1 - (at_ & mask_);
      const bool skip = record->kind == Kind::kSkip;
      if (record->slots == 0 || record->slots > to_wrap || at_ + record->slots > end_ ||
          (!skip && !well_formed(*record))) {
        damaged_ = true;
        return nullptr;
      }
      at_ += record->slots;
      if (!skip) return record;
    }
    return nullptr;
  }

  std::uint64_t position() const noexcept { return at_; }
  bool damaged() const noexcept { return damaged_; }

 private:
  const std::byte* slots_;
  std::uint64_t mask_;
  std::uint64_t at_;
  std::uint64_t end_;
  bool damaged_ = false;
};

}  // namespace plumbline::recorder
