// Does the live set grow with the steps: blocks that a step makes and no later step frees, again and again.
//
// Judged at the end of the last whole step, from blocks that are at least two steps old. Steps of the warm-up are left
// out (optimizer state, caches of the first shapes), and so is everything before a stretch that was evicted. What is
// held for many steps and then freed (a buffer, a queue of batches) is no leak: blocks of the same size class that
// were freed at that age are counted against it. A cache that grows when a longer row than ever comes along leaves
// something in few steps, a leak in most.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/memory_ledger.hpp"

namespace plumbline::checks {

struct LeakClass {
  std::uint64_t least = 0;  // sizes of its blocks
  std::uint64_t most = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t range = 0;         // text: where most of it was made
  std::uint64_t example_size = 0;  // one of its blocks, to look a stack up by
  std::uint64_t example_ns = 0;
};

struct Leak {
  std::uint32_t pool = 0;
  std::int64_t first_step = 0;  // judged, both ends included
  std::int64_t last_step = 0;
  std::int64_t leaving_steps = 0;  // that left something behind
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t live_then = 0;  // at the end of the first step judged
  std::uint64_t live_last = 0;  // at the end of the last whole step
  std::uint64_t lost_frees = 0;
  std::vector<LeakClass> classes;  // the largest first

  std::uint64_t bytes_per_step() const { return bytes / static_cast<std::uint64_t>(last_step - first_step + 1); }
};

inline constexpr std::int64_t kFewestStepsForALeak = 8;

class LeakWatch {
 public:
  explicit LeakWatch(const reader::Trace& trace);

  // Too few whole steps to judge by, after what was evicted.
  bool can_judge() const { return last_ >= first_ + 2; }
  void see(const MemoryEvent& event, const MemoryLedger& ledger);
  void finish(const MemoryLedger& ledger);
  const std::vector<Leak>& leaks() const { return leaks_; }

 private:
  static constexpr std::size_t kClasses = 64;
  using Counts = std::array<std::uint64_t, kClasses>;

  void judge(const MemoryLedger& ledger);
  std::optional<Leak> judge_pool(const MemoryLedger& ledger, std::uint32_t pool) const;

  const reader::Trace& trace_;
  std::int64_t first_ = 0;  // steps judged, both ends included; empty when last_ < first_
  std::int64_t last_ = -1;
  std::uint64_t judged_at_ns_ = 0;
  std::uint64_t first_end_ns_ = 0;
  bool judged_ = false;
  bool noted_first_ = false;
  std::vector<Counts> freed_late_;        // by pool
  std::vector<std::uint64_t> live_last_;  // by pool
  std::vector<std::uint64_t> live_then_;  // by pool
  std::vector<Leak> leaks_;
};

}  // namespace plumbline::checks
