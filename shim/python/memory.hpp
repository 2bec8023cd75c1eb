// The two ways in which memory of this process is read: directly, where its owner is the calling thread and it cannot
// go away; and guarded, where it may be gone, changing, or nonsense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plumbline::shim {

using Address = std::uintptr_t;

// Copies up to `bytes` bytes from an address that need not be mapped; how many were there to copy. Safe in a signal
// handler.
std::size_t read_guarded(Address from, void* to, std::size_t bytes) noexcept;

struct DirectMemory {
  static bool copy(Address from, void* to, std::size_t bytes) noexcept {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return true;
  }
};

struct GuardedMemory {
  static bool copy(Address from, void* to, std::size_t bytes) noexcept {
    return read_guarded(from, to, bytes) == bytes;
  }
};

// A value at an address; `fallback` where it cannot be read.
template <class T, class Memory>
T load(Address from, T fallback = T{}) noexcept {
  T value;
  return Memory::copy(from, &value, sizeof value) ? value : fallback;
}

}  // namespace plumbline::shim
