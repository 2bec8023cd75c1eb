// What push() needs to know of the process and of its thread, kept apart from everything that is rarely touched.
//
// Threads compare their own epoch with the process's: equal means that the thread's ring belongs to the recording in
// force. kNoEpoch is no thread's epoch, so the one comparison also says whether anything is recorded at all, and after
// a fork or a stop no thread can reach an old ring.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/recording.hpp"
#include "recorder/ring.hpp"

namespace plumbline::recorder {

inline constexpr std::uint32_t kNoEpoch = ~std::uint32_t{0};

struct ThreadState {
  RingHeader* ring;
  std::uint32_t epoch;
};

// Initial-exec: the access is one addition to the thread pointer, and never allocates.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState t_state;

extern constinit std::atomic<std::uint32_t> g_epoch;
// Set before the first epoch, replaced only by a fork's child. Never freed.
extern constinit std::atomic<Recording*> g_recording;

RingHeader* claim_ring(std::uint32_t epoch) noexcept;

// The calling thread's ring; null when nothing is recorded, or when there is none left.
inline RingHeader* own_ring() noexcept {
  const std::uint32_t epoch = g_epoch.load(std::memory_order_acquire);
  if (t_state.epoch == epoch) [[likely]]
    return t_state.ring;
  return epoch == kNoEpoch ? nullptr : claim_ring(epoch);
}

// Ends the marks of calls that have raised, as seen from a frame; ~0 is outside of all.
void settle_stale(RingHeader& ring, std::uint64_t frame, std::uint64_t now) noexcept;

}  // namespace plumbline::recorder
