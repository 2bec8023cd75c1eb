// A lock-free set of 64-bit hashes that forgets under pressure: what it says it contains was inserted; what it has
// forgotten is recorded once more, which costs bytes but is never wrong.
//
// Safe from any thread. Zero is not a member.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plumbline::recorder {

template <std::size_t kCapacity>
class SeenSet {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  bool contains(std::uint64_t hash) const noexcept {
    for (std::size_t i = 0; i < kProbes; ++i) {
      const std::uint64_t entry = entries_[(hash + i) & (kCapacity - 1)].load(std::memory_order_relaxed);
      if (entry == hash) return true;
      if (entry == 0) return false;
    }
    return false;
  }

  void insert(std::uint64_t hash) noexcept {
    for (std::size_t i = 0; i < kProbes; ++i) {
      std::atomic<std::uint64_t>& entry = entries_[(hash + i) & (kCapacity - 1)];
      std::uint64_t found = 0;
      if (entry.compare_exchange_strong(found, hash, std::memory_order_relaxed) || found == hash) return;
    }
    entries_[(hash + (hash >> 32) % kProbes) & (kCapacity - 1)].store(hash, std::memory_order_relaxed);
  }

  // Not for use while others insert.
  void clear() noexcept {
    for (auto& entry : entries_) entry.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kProbes = 16;
  std::atomic<std::uint64_t> entries_[kCapacity] = {};
};

}  // namespace plumbline::recorder
