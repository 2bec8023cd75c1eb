// Recording what devices do, at level `diagnose`: kernels, copies and memory sets, each with the range or collective
// inside of which it was launched.
//
// CUPTI's activity interface has one user at a time. Another one (a profiler) that came first keeps it; one that comes
// later gets it at once, and nothing of devices is recorded from then on. Buffers are a fixed number; where none is
// free CUPTI drops records and counts them, and the count is told with the hook.
#pragma once

#include <atomic>
#include <cstdint>

namespace plumbline::shim::cupti {

inline constinit std::atomic<bool> recording_devices{false};

// At the first use of a device. Cheap when it was asked before.
void record_devices() noexcept;

// Somebody else registers for activity records.
void yield_devices() noexcept;

// In the child of a fork, where CUPTI does not work.
void forget_devices() noexcept;

// What the calling thread launches belongs to `id` until end_launches().
void begin_launches_slow(std::uint64_t id) noexcept;
void end_launches_slow() noexcept;

inline void begin_launches(std::uint64_t id) noexcept {
  if (recording_devices.load(std::memory_order_relaxed)) begin_launches_slow(id);
}
inline void end_launches() noexcept {
  if (recording_devices.load(std::memory_order_relaxed)) end_launches_slow();
}

}  // namespace plumbline::shim::cupti
