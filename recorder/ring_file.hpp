// Layout of the shared ring file: what a recording process maps, and what the reader finds there after a kill.
//
// The file is `<trace>.ring` beside the trace file. Layout: RingFileHeader (one page), then `ring_count` RingHeaders of
// 320 bytes, then the slots of each ring at its `data_offset`, each preceded by the ring's HookCounters. The file has
// its full length from the start but is sparse: headers are fallocate()d at creation and a ring's region when a thread
// claims it for the first time, so that a full disk shows there and never as SIGBUS in a hook.
//
// A ring has one producer (its thread) and one consumer (the writer thread). `head` and `tail` count slots since the
// ring's birth and never wrap. A large ring is cut into chunks, and the producer always goes on in the lowest one that
// is free: as long as the writer keeps up, a few chunks are used again and again, and the job's caches and page tables
// are left alone. `places` says where the slots lie (slot_index()). The producer publishes with a release store of
// `head`. The writer stores `tail` only after the frame that holds the events has been written to the trace; a batch of
// the trace says up to which head each ring was taken (Progress), so a reader that finds both drops what it has twice.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::recorder {

inline constexpr std::uint64_t kRingMagic = 0x31474e4952424c50;  // "PLBRING1" read as little-endian
inline constexpr std::uint32_t kRingVersion = 2;
inline constexpr std::size_t kRingFileHeaderBytes = 4096;
inline constexpr std::size_t kRingHeaderBytes = 320;
inline constexpr std::size_t kMostChunks = 64;
inline constexpr std::size_t kKindCount = 32;

enum class RingState : std::uint32_t {
  kFree = 0,     // no thread owns it
  kActive = 1,   // a thread writes to it
  kClosing = 2,  // its thread has ended; the writer frees it when it is drained
};

// A hooked call that is inside the real function. It is left behind when the call raises, or when the process dies in
// it; `what` is zero when nothing is in flight.
struct InFlight {
  std::atomic<std::uint32_t> what;  // Kind of the event that would follow: kAllocFailed, kCollective, kWait
  std::uint32_t tag;
  std::uint64_t time_ns;
  std::uint64_t id_or_size;
  std::uint64_t frame;  // address of the hook's stack frame: a call nested in it has a lower one
};

// How often each hook fired on the threads that owned the ring, at `data_offset - sizeof(HookCounters)`. The total of a
// hook is the sum over all rings and RingFileHeader::hook_fired.
struct HookCounters {
  std::atomic<std::uint64_t> fired[64];
};

struct alignas(64) RingHeader {
  std::atomic<std::uint32_t> state;  // RingState
  std::uint32_t tid;
  std::uint64_t generation;   // counts owners of this ring, from 1
  std::uint64_t data_offset;  // in the file
  std::uint64_t capacity;     // slots, a power of two
  char thread_name[16];
  std::uint64_t slots_distance;  // bytes from this header to slot 0
  std::uint64_t chunk;           // slots of a chunk, a power of two; capacity / chunk is at most kMostChunks
  alignas(64) std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> dropped_slots;
  InFlight in_flight;                // an allocation
  std::atomic<std::uint32_t> marks;  // how many of in_flight and calls are set
  std::uint32_t current;             // index of the first slot of the chunk that the producer is in
  alignas(64) std::atomic<std::uint64_t> tail;
  std::uint64_t reserved1[7];
  InFlight calls[2];  // collectives and waits, in no order: a call of an outer layer and one inside it
  std::atomic<std::uint8_t> places[kMostChunks];  // where chunk n since the birth lies, at n % kMostChunks: a chunk
};
static_assert(sizeof(RingHeader) == kRingHeaderBytes);

// Index of slot number `slot`, in slots from the start of the ring's data.
constexpr std::uint64_t slot_index(std::uint64_t slot, std::uint64_t chunk, std::uint8_t place) noexcept {
  return place * chunk + (slot & (chunk - 1));
}

struct RingFileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ring_count;
  std::uint32_t pid;
  std::int32_t rank;     // global rank as the environment said, -1 not known
  std::int32_t attempt;  // restart count
  std::uint32_t reserved;
  std::uint64_t start_monotonic_ns;
  std::uint64_t start_realtime_ns;
  char boot_id[40];
  char trace_name[256];                            // file name of the trace beside it
  std::atomic<std::uint64_t> clean_end;            // 1: the exit handler ran and everything was drained
  std::atomic<std::uint64_t> dropped[kKindCount];  // events dropped, by Kind, over all threads
  std::atomic<std::uint64_t> hook_fired[64];       // by hook number: firings on threads without a ring
  // Of a process that outlived its recording (a full disk, a deleted trace): zero where it did not.
  std::atomic<std::uint64_t> stopped_ns;  // when recording ended; stop_reason says why
  std::atomic<std::uint64_t> exit_ns;     // when the process came to its end, with exit_status
  std::int32_t exit_status;
  std::uint32_t reserved2;
  char stop_reason[256];
};
static_assert(sizeof(RingFileHeader) <= kRingFileHeaderBytes);

}  // namespace plumbline::recorder
