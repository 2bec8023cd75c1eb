#include "shim/c10d/pending_calls.hpp"

namespace plumbline::shim {

using recorder::Outcome;

std::size_t WorkTable::place(std::uintptr_t work, std::size_t probe) noexcept {
  // Objects of one class are multiples of 16 bytes apart: multiply, and take the high bits.
  const std::uint64_t hash = (work >> 4) * 0x9e3779b97f4a7c15u;
  return ((hash >> 48) + probe) % kEntries;
}

void WorkTable::insert(const void* work, std::uint64_t call) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(work);
  Entry* oldest = nullptr;
  Entry* free = nullptr;
  for (std::size_t probe = 0; probe < kWindow; ++probe) {
    Entry& entry = entries_[place(key, probe)];
    const std::uintptr_t holder = entry.work.load(std::memory_order_acquire);
    if (holder == key) {
      entry.call.store(call, std::memory_order_release);
      return;
    }
    if (holder == 0) {
      if (free == nullptr) free = &entry;
    } else if (oldest == nullptr ||
               entry.call.load(std::memory_order_relaxed) < oldest->call.load(std::memory_order_relaxed)) {
      oldest = &entry;
    }
  }
  std::uintptr_t expected = 0;
  if (free != nullptr && free->work.compare_exchange_strong(expected, key, std::memory_order_acq_rel)) {
    free->call.store(call, std::memory_order_release);
    return;
  }
  // Full, or another thread took the free entry in this moment: the oldest goes.
  Entry* victim = oldest != nullptr ? oldest : free;
  victim->work.store(key, std::memory_order_release);
  victim->call.store(call, std::memory_order_release);
  forgotten_.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t WorkTable::find(const void* work) const noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(work);
  for (std::size_t probe = 0; probe < kWindow; ++probe) {
    const Entry& entry = entries_[place(key, probe)];
    if (entry.work.load(std::memory_order_acquire) == key) return entry.call.load(std::memory_order_acquire);
  }
  return 0;
}

std::uint64_t WorkTable::take(const void* work) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(work);
  for (std::size_t probe = 0; probe < kWindow; ++probe) {
    Entry& entry = entries_[place(key, probe)];
    if (entry.work.load(std::memory_order_acquire) != key) continue;
    const std::uint64_t call = entry.call.exchange(0, std::memory_order_acq_rel);
    entry.work.store(0, std::memory_order_release);
    return call;
  }
  return 0;
}

PendingCalls::Entry* PendingCalls::find(std::uint64_t call) noexcept {
  Entry& entry = entries_[call % kEntries];
  return call != 0 && entry.call.load(std::memory_order_acquire) == call ? &entry : nullptr;
}

void PendingCalls::open(std::uint64_t call, bool held) noexcept {
  Entry& entry = entries_[call % kEntries];
  // A call that raised before it had enqueued anything lies here too, and has nothing to lose.
  if (entry.call.load(std::memory_order_relaxed) != 0 && entry.works.load(std::memory_order_relaxed) != 0) {
    forgotten_.fetch_add(1, std::memory_order_relaxed);
  }
  entry.call.store(0, std::memory_order_relaxed);
  entry.works.store(held ? 1 : 0, std::memory_order_relaxed);
  entry.begun.store(false, std::memory_order_relaxed);
  entry.failed.store(false, std::memory_order_relaxed);
  entry.call.store(call, std::memory_order_release);
}

void PendingCalls::add_work(std::uint64_t call) noexcept {
  if (Entry* entry = find(call)) entry->works.fetch_add(1, std::memory_order_relaxed);
}

bool PendingCalls::begin(std::uint64_t call) noexcept {
  Entry* entry = find(call);
  return entry != nullptr && !entry->begun.exchange(true, std::memory_order_relaxed);
}

bool PendingCalls::end(std::uint64_t call, Outcome of_work, Outcome* of_call) noexcept {
  Entry* entry = find(call);
  if (entry == nullptr) return false;
  if (of_work == Outcome::kFailed) entry->failed.store(true, std::memory_order_relaxed);
  return finish_one(*entry, of_call);
}

bool PendingCalls::release(std::uint64_t call, Outcome* of_call) noexcept {
  Entry* entry = find(call);
  return entry != nullptr && finish_one(*entry, of_call);
}

bool PendingCalls::finish_one(Entry& entry, Outcome* of_call) noexcept {
  if (entry.works.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  *of_call = entry.failed.load(std::memory_order_relaxed) ? Outcome::kFailed : Outcome::kCompleted;
  entry.call.store(0, std::memory_order_release);
  return true;
}

}  // namespace plumbline::shim
