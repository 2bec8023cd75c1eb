// The hot path: records into the calling thread's ring, and the marks of calls that may raise.
#include <algorithm>
#include <iterator>

#include "recorder/clock.hpp"
#include "recorder/process_state.hpp"
#include "recorder/recorder.hpp"

namespace plumbline::recorder {
namespace {

void count_drop(RingHeader* ring, const RecordHeader& record) noexcept {
  if (!active()) return;
  RingFileHeader& header = g_recording.load(std::memory_order_acquire)->rings().header();
  header.dropped[static_cast<std::size_t>(record.kind) % kKindCount].fetch_add(1, std::memory_order_relaxed);
  if (ring != nullptr) ring->dropped_slots.fetch_add(record.slots, std::memory_order_relaxed);
}

bool write_or_count(RingHeader& ring, const RecordHeader& record) noexcept {
  if (write_record(ring, record)) [[likely]]
    return true;
  count_drop(&ring, record);
  return false;
}

// The event that tells of a call that has raised.
void write_raised(RingHeader& ring, const InFlight& mark, Kind what, std::uint64_t now) noexcept {
  if (what == Kind::kAllocFailed) {
    const std::uint64_t time_ns = mark.time_ns != 0 ? mark.time_ns : now;
    const AllocRecord record{{time_ns, Kind::kAllocFailed, slots_of<AllocRecord>(), 0, mark.tag}, 0, mark.id_or_size};
    write_or_count(ring, record.header);
    return;
  }
  const Kind end = what == Kind::kWait ? Kind::kWaitEnd : Kind::kCollectiveEnd;
  const auto raised = static_cast<std::uint32_t>(Outcome::kRaised);
  const CollectiveMarkRecord record{{now, end, slots_of<CollectiveMarkRecord>(), 0, raised}, mark.id_or_size, 0};
  write_or_count(ring, record.header);
}

void set_count(RingHeader& ring, std::uint32_t marks) noexcept { ring.marks.store(marks, std::memory_order_relaxed); }

std::uint32_t count_of(const RingHeader& ring) noexcept { return ring.marks.load(std::memory_order_relaxed); }

void unset(RingHeader& ring, InFlight& mark) noexcept {
  mark.what.store(0, std::memory_order_release);
  set_count(ring, count_of(ring) - 1);
}

void settle(RingHeader& ring, InFlight& mark, std::uint64_t now) noexcept {
  const auto what = static_cast<Kind>(mark.what.load(std::memory_order_relaxed));
  unset(ring, mark);
  write_raised(ring, mark, what, now);
}

bool is_set(const InFlight& mark) noexcept { return mark.what.load(std::memory_order_relaxed) != 0; }

std::uint64_t address_of(const void* frame) noexcept { return reinterpret_cast<std::uintptr_t>(frame); }

}  // namespace

[[gnu::noinline]] void settle_stale(RingHeader& ring, std::uint64_t frame, std::uint64_t now) noexcept {
  // Nothing that is recorded happens inside of an allocation.
  if (is_set(ring.in_flight)) settle(ring, ring.in_flight, now);
  for (InFlight& mark : ring.calls) {
    if (is_set(mark) && mark.frame <= frame) settle(ring, mark, now);
  }
}

bool push(const RecordHeader& record) noexcept {
  RingHeader* ring = own_ring();
  if (ring == nullptr) [[unlikely]]
    return count_drop(nullptr, record), false;
  if (count_of(*ring) != 0) [[unlikely]] {
    settle_stale(*ring, address_of(__builtin_frame_address(0)), record.time_ns);
  }
  return write_or_count(*ring, record);
}

void set_in_flight(Kind what, std::uint32_t tag, std::uint64_t time_ns, std::uint64_t id_or_size,
                   const void* frame) noexcept {
  RingHeader* ring = own_ring();
  if (ring == nullptr) return;
  if (count_of(*ring) != 0) settle_stale(*ring, address_of(frame), time_ns);
  InFlight* mark = &ring->in_flight;
  if (what != Kind::kAllocFailed) {
    mark = std::find_if_not(std::begin(ring->calls), std::end(ring->calls), is_set);
    if (mark == std::end(ring->calls)) return;
  }
  mark->tag = tag;
  mark->time_ns = time_ns;
  mark->id_or_size = id_or_size;
  mark->frame = address_of(frame);
  mark->what.store(static_cast<std::uint32_t>(what), std::memory_order_release);
  set_count(*ring, count_of(*ring) + 1);
}

bool clear_in_flight(const void* frame) noexcept {
  if (t_state.epoch != g_epoch.load(std::memory_order_acquire)) return false;
  RingHeader& ring = *t_state.ring;
  if (count_of(ring) == 0) return false;
  bool was_set = false;
  const auto end = [&](InFlight& mark) {
    if (!is_set(mark) || mark.frame > address_of(frame)) return;
    if (mark.frame == address_of(frame)) {
      unset(ring, mark);
      was_set = true;
    } else {
      settle(ring, mark, monotonic_ns());  // of an inner call, which has raised into this one
    }
  };
  end(ring.in_flight);
  for (InFlight& mark : ring.calls) end(mark);
  return was_set;
}

// The mark outlives the failure until the thread's next event, and other errors may be raised before that.
std::uint64_t failing_allocation() noexcept {
  if (t_state.epoch != g_epoch.load(std::memory_order_acquire)) return 0;
  static constinit std::atomic<std::uint64_t> told{0};
  const RingHeader& ring = *t_state.ring;
  if (!is_set(ring.in_flight)) return 0;
  const std::uint64_t failure = address_of(&ring) ^ ring.head.load(std::memory_order_relaxed) << 32;
  return told.exchange(failure, std::memory_order_relaxed) != failure ? ring.in_flight.id_or_size : 0;
}

void hook_fired(unsigned hook) noexcept {
  if (hook >= kMostHooks) return;
  const std::uint32_t epoch = g_epoch.load(std::memory_order_acquire);
  if (t_state.epoch == epoch) [[likely]] {
    // The ring's thread is the only writer of its counters.
    std::atomic<std::uint64_t>& fired = hook_counters(*t_state.ring).fired[hook];
    fired.store(fired.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else if (epoch != kNoEpoch) {
    RingFileHeader& header = g_recording.load(std::memory_order_acquire)->rings().header();
    header.hook_fired[hook].fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace plumbline::recorder
