// Calls whose work still runs: which call a work object belongs to, and when the call has begun and ended.
//
// A backend call enqueues one work object, or several (gloo's reduce-scatter of many tensors), which worker threads
// execute. Both tables are bounded and lock-free; where one is full it forgets its oldest entry, whose call then stays
// without an end mark, and counts that.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim {

// Work object → id of its call. Every function is safe from any thread.
class WorkTable {
 public:
  // A work that lies here already was freed without having been taken out: its address is in use again.
  void insert(const void* work, std::uint64_t call) noexcept;
  std::uint64_t find(const void* work) const noexcept;  // 0: not here
  std::uint64_t take(const void* work) noexcept;        // 0: not here
  std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::atomic<std::uintptr_t> work;
    std::atomic<std::uint64_t> call;
  };
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kWindow = 16;  // entries that a work may lie in

  static std::size_t place(std::uintptr_t work, std::size_t probe) noexcept;

  std::array<Entry, kEntries> entries_{};
  std::atomic<std::uint64_t> forgotten_{0};
};

// Begin and end of calls, from those of their works.
class PendingCalls {
 public:
  // A held call does not end before release(): more works may follow the one that has ended.
  void open(std::uint64_t call, bool held) noexcept;
  void add_work(std::uint64_t call) noexcept;

  // Whether the call begins, or ends, with this: the mark is then due. Only one caller is ever told so.
  bool begin(std::uint64_t call) noexcept;
  bool end(std::uint64_t call, recorder::Outcome of_work, recorder::Outcome* of_call) noexcept;
  bool release(std::uint64_t call, recorder::Outcome* of_call) noexcept;

  std::uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::atomic<std::uint64_t> call;  // 0: free
    std::atomic<std::uint32_t> works;
    std::atomic<bool> begun;
    std::atomic<bool> failed;
  };
  static constexpr std::size_t kEntries = 4096;

  Entry* find(std::uint64_t call) noexcept;
  static bool finish_one(Entry& entry, recorder::Outcome* of_call) noexcept;

  std::array<Entry, kEntries> entries_{};
  std::atomic<std::uint64_t> forgotten_{0};
};

}  // namespace plumbline::shim
