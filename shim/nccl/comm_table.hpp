// The communicators of the process: what a hook must know about a handle to describe a call on it.
//
// Lookups take no lock and may run beside insertions and removals; those two exclude each other by a spin lock, since
// they are as rare as communicators. A fixed table of kCapacity entries: a job that has more gets its calls recorded
// without group, rank and size. NCCL forbids using a communicator while it is being destroyed, so an entry that was
// found stays valid for the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plumbline::shim::nccl {

// The same on every rank.
struct CommName {
  char text[24] = {};
};

struct Comm {
  std::atomic<std::uintptr_t> handle;
  std::uint64_t group;          // GroupRecord id of the communicator
  std::uint64_t process_group;  // of the c10d process group that made it, 0 not known
  std::int32_t rank;
  std::int32_t size;
  std::atomic<std::uint64_t> collectives;     // calls so far
  std::atomic<std::uint64_t> point_to_point;  // sends and receives so far
  std::atomic<std::uint32_t> children;        // splits and shrinks so far
  CommName name;
};

class CommTable {
 public:
  static constexpr std::size_t kCapacity = 1024;

  constexpr CommTable() = default;

  // Null when the handle is not known.
  Comm* find(const void* handle) noexcept;

  // Adds the handle, or resets its entry when the address was used before. Null when the table is full.
  Comm* insert(const void* handle, const CommName& name, std::uint64_t group, std::uint64_t process_group,
               std::int32_t rank, std::int32_t size) noexcept;

  void erase(const void* handle) noexcept;

 private:
  void lock() noexcept;
  void unlock() noexcept { locked_.clear(std::memory_order_release); }

  std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
  Comm comms_[kCapacity]{};
};

}  // namespace plumbline::shim::nccl
