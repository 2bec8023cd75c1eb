#include "shim/nccl/comm_table.hpp"

#include <sched.h>

namespace plumbline::shim::nccl {
namespace {

constexpr std::uintptr_t kNeverUsed = 0;
constexpr std::uintptr_t kErased = 1;  // no pointer: communicators are aligned

std::size_t home_of(std::uintptr_t handle) noexcept {
  return static_cast<std::size_t>(handle * 0x9e3779b97f4a7c15ull >> 48) % CommTable::kCapacity;
}

}  // namespace

Comm* CommTable::find(const void* handle) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(handle);
  if (wanted == kNeverUsed || wanted == kErased) return nullptr;
  for (std::size_t probe = 0, at = home_of(wanted); probe < kCapacity; ++probe, at = (at + 1) % kCapacity) {
    const std::uintptr_t found = comms_[at].handle.load(std::memory_order_acquire);
    if (found == wanted) return &comms_[at];
    if (found == kNeverUsed) return nullptr;
  }
  return nullptr;
}

Comm* CommTable::insert(const void* handle, const CommName& name, std::uint64_t group, std::uint64_t process_group,
                        std::int32_t rank, std::int32_t size) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(handle);
  if (wanted == kNeverUsed || wanted == kErased) return nullptr;
  lock();
  Comm* slot = find(handle);
  for (std::size_t probe = 0, at = home_of(wanted); slot == nullptr && probe < kCapacity;
       ++probe, at = (at + 1) % kCapacity) {
    if (comms_[at].handle.load(std::memory_order_relaxed) <= kErased) slot = &comms_[at];
  }
  if (slot != nullptr) {
    slot->name = name;
    slot->group = group;
    slot->process_group = process_group;
    slot->rank = rank;
    slot->size = size;
    slot->collectives.store(0, std::memory_order_relaxed);
    slot->point_to_point.store(0, std::memory_order_relaxed);
    slot->children.store(0, std::memory_order_relaxed);
    slot->handle.store(wanted, std::memory_order_release);
  }
  unlock();
  return slot;
}

void CommTable::erase(const void* handle) noexcept {
  lock();
  if (Comm* found = find(handle)) found->handle.store(kErased, std::memory_order_release);
  unlock();
}

void CommTable::lock() noexcept {
  while (locked_.test_and_set(std::memory_order_acquire)) ::sched_yield();
}

}  // namespace plumbline::shim::nccl
