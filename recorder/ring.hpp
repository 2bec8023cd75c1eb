// The two ends of a ring: write_record() for its thread, RingReader for the writer thread.
//
// One producer, one consumer. The producer publishes a record with a release store of `head`; the consumer gives room
// back with a release store of `tail`. A record is contiguous: where it would cross the end of a chunk, a kSkip record
// fills that.
#pragma once

#include <bit>
#include <cstring>
#include <optional>

#include "recorder/record_bytes.hpp"
#include "recorder/ring_file.hpp"

namespace plumbline::recorder {

inline std::byte* slots_of_ring(RingHeader& ring) noexcept {
  return reinterpret_cast<std::byte*>(&ring) + ring.slots_distance;
}

inline HookCounters& hook_counters(RingHeader& ring) noexcept {
  return *reinterpret_cast<HookCounters*>(slots_of_ring(ring) - sizeof(HookCounters));
}

// The lowest chunk that holds nothing unread, for the chunk with this number since the ring's birth.
inline std::optional<std::uint8_t> free_place(const RingHeader& ring, std::uint64_t number,
                                              std::uint64_t tail) noexcept {
  const std::uint64_t chunks = ring.capacity / ring.chunk;
  if (chunks == 1) return 0;
  const std::uint64_t oldest = tail / ring.chunk;
  if (number - oldest >= chunks) return std::nullopt;
  std::uint64_t taken = 0;
  for (std::uint64_t n = oldest; n < number; ++n)
    taken |= std::uint64_t{1} << (ring.places[n % kMostChunks].load(std::memory_order_relaxed) % kMostChunks);
  return static_cast<std::uint8_t>(std::countr_one(taken));
}

// False: no room. Only the ring's own thread may call it.
inline bool write_record(RingHeader& ring, const RecordHeader& record) noexcept {
  const std::uint64_t head = ring.head.load(std::memory_order_relaxed);
  const std::uint64_t tail = ring.tail.load(std::memory_order_acquire);
  const std::uint64_t offset = head & (ring.chunk - 1);
  const std::uint64_t skip = record.slots > ring.chunk - offset ? ring.chunk - offset : 0;
  if (head - tail + skip + record.slots > ring.capacity) return false;

  std::byte* slots = slots_of_ring(ring);
  std::byte* target = slots + (ring.current + offset) * kSlotBytes;
  if (skip != 0 || offset == 0) [[unlikely]] {
    const std::uint64_t number = (head + skip) / ring.chunk;
    const std::optional<std::uint8_t> place = free_place(ring, number, tail);
    if (!place) return false;
    if (skip != 0) {
      const RecordHeader filler{record.time_ns, Kind::kSkip, static_cast<std::uint8_t>(skip), 0, 0};
      std::memcpy(target, &filler, sizeof(filler));
    }
    ring.places[number % kMostChunks].store(*place, std::memory_order_relaxed);
    ring.current = static_cast<std::uint32_t>(*place * ring.chunk);
    target = slots + ring.current * kSlotBytes;
  }
  // A constant length keeps the common cases free of a call. Every record of one slot is exactly one slot long.
  if (record.slots == 1) [[likely]] {
    std::memcpy(target, &record, kSlotBytes);
  } else if (record.kind == Kind::kCollective) {
    std::memcpy(target, &record, sizeof(CollectiveRecord));
  } else {
    std::memcpy(target, &record, record_bytes(record));
  }
  ring.head.store(head + skip + record.slots, std::memory_order_release);
  return true;
}

// Walks the records between two slot numbers of a ring that the caller knows to be published and not yet freed.
class RingReader {
 public:
  RingReader(RingHeader& ring, std::uint64_t from, std::uint64_t to) noexcept : ring_(ring), at_(from), end_(to) {}

  // Null at the end, or where the slots make no sense (a job that writes over foreign memory): see damaged().
  const RecordHeader* next() noexcept {
    while (at_ < end_) {
      const auto* record = at();
      const std::uint64_t to_end = ring_.chunk - (at_ & (ring_.chunk - 1));
      const bool skip = record->kind == Kind::kSkip;
      if (record->slots == 0 || record->slots > to_end || at_ + record->slots > end_ ||
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
  const RecordHeader* at() const noexcept {
    const std::uint8_t place = ring_.places[at_ / ring_.chunk % kMostChunks].load(std::memory_order_relaxed);
    // A place that the job has written over must not lead out of the ring.
    const std::uint64_t index = slot_index(at_, ring_.chunk, place) & (ring_.capacity - 1);
    return reinterpret_cast<const RecordHeader*>(slots_of_ring(ring_) + index * kSlotBytes);
  }

  RingHeader& ring_;
  std::uint64_t at_;
  std::uint64_t end_;
  bool damaged_ = false;
};

}  // namespace plumbline::recorder
