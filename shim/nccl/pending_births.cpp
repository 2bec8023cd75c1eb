#include "shim/nccl/pending_births.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace plumbline::shim::nccl {
namespace {

struct Pending {
  void* const* place = nullptr;  // null: the entry is free
  pthread_t thread{};
  CommBirth birth;
};

constexpr std::size_t kMostPending = 64;
constinit Pending entries[kMostPending]{};
constinit std::atomic<std::size_t> used{0};
constinit std::atomic_flag locked = ATOMIC_FLAG_INIT;

void lock() noexcept {
  while (locked.test_and_set(std::memory_order_acquire)) ::sched_yield();
}

void unlock() noexcept { locked.clear(std::memory_order_release); }

// Takes out one entry of the calling thread.
bool take(Pending& taken) noexcept {
  bool found = false;
  lock();
  for (Pending& entry : entries) {
    if (entry.place == nullptr || !::pthread_equal(entry.thread, ::pthread_self())) continue;
    taken = entry;
    entry.place = nullptr;
    used.fetch_sub(1, std::memory_order_relaxed);
    found = true;
    break;
  }
  unlock();
  return found;
}

}  // namespace

bool defer_birth(const CommBirth& birth, void* const* place) noexcept {
  bool stored = false;
  lock();
  for (Pending& entry : entries) {
    if (entry.place != nullptr) continue;
    entry = {place, ::pthread_self(), birth};
    entry.birth.label = nullptr;  // the caller's text may be gone by then
    used.fetch_add(1, std::memory_order_relaxed);
    stored = true;
    break;
  }
  unlock();
  return stored;
}

void settle_births(int code) noexcept {
  if (used.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  if (code == kInProgress) return;
  Pending pending;
  while (take(pending)) end_birth(pending.birth, code == kSuccess ? *pending.place : nullptr, code);
}

}  // namespace plumbline::shim::nccl
