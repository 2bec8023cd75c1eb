#include "checks/memory_leak.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace plumbline::checks {
namespace {

// A step's gradients live until the next one has begun.
constexpr std::int64_t kOld = 2;
// What is smaller than this is somebody's list of losses.
constexpr std::uint64_t kLeastPerStep = 4096;
constexpr std::uint64_t kLeastInAll = std::uint64_t{1} << 20;

std::size_t class_of(std::uint64_t size) { return size == 0 ? 0 : static_cast<std::size_t>(std::bit_width(size) - 1); }

// Segments hold blocks, and what the driver hands out holds segments: growth is told where it begins.
bool is_judged(const std::vector<MemoryPool>& pools, std::uint32_t pool) {
  const MemoryPool& one = pools[pool];
  if (one.source == recorder::Source::kCachingSegment) return false;
  if (one.source == recorder::Source::kCpu || one.source == recorder::Source::kCachingBlock) return true;
  return std::none_of(pools.begin(), pools.end(), [&](const MemoryPool& other) {
    return other.source == recorder::Source::kCachingBlock && other.device == one.device;
  });
}

}  // namespace

LeakWatch::LeakWatch(const reader::Trace& trace) : trace_(trace) {
  const reader::StepTimeline& steps = trace.steps();
  std::int64_t from = 0;
  for (const reader::EvictedRange& gap : trace.evicted()) from = std::max(from, steps.step_at(gap.last_ns) + 1);
  const std::int64_t whole = steps.count() - from;
  if (whole < kFewestStepsForALeak) return;
  first_ = from + std::max<std::int64_t>(2, whole / 4);
  last_ = steps.count() - 1 - kOld;
  judged_at_ns_ = steps.window(steps.count() - 1).to_ns;
  first_end_ns_ = steps.window(first_).to_ns;
}

void LeakWatch::see(const MemoryEvent& event, const MemoryLedger& ledger) {
  if (!can_judge() || judged_) return;
  if (!noted_first_ && event.time_ns > first_end_ns_) {
    noted_first_ = true;
    live_then_ = live_last_;
  }
  if (event.time_ns > judged_at_ns_) return judge(ledger);
  if (live_last_.size() <= event.block.pool) live_last_.resize(event.block.pool + 1, 0);
  live_last_[event.block.pool] = ledger.pools()[event.block.pool].live_bytes;
  if (event.kind != recorder::Kind::kFree || event.block.size == 0) return;
  if (event.block.step < first_ || event.step - event.block.step < kOld) return;
  if (freed_late_.size() <= event.block.pool) freed_late_.resize(event.block.pool + 1, Counts{});
  ++freed_late_[event.block.pool][class_of(event.block.size)];
}

void LeakWatch::finish(const MemoryLedger& ledger) {
  if (can_judge() && !judged_) judge(ledger);
}

void LeakWatch::judge(const MemoryLedger& ledger) {
  judged_ = true;
  for (std::uint32_t pool = 0; pool < ledger.pools().size(); ++pool) {
    if (!is_judged(ledger.pools(), pool)) continue;
    if (auto leak = judge_pool(ledger, pool)) leaks_.push_back(std::move(*leak));
  }
}

std::optional<Leak> LeakWatch::judge_pool(const MemoryLedger& ledger, std::uint32_t pool) const {
  struct Group {
    LeakClass found;
    std::set<std::int64_t> steps;
    std::map<std::uint64_t, std::uint64_t> ranges;  // bytes
  };
  std::array<Group, kClasses> groups;
  ledger.for_each_live([&](const MemoryBlock& block) {
    if (block.pool != pool || block.step < first_ || block.step > last_) return;
    Group& group = groups[class_of(block.size)];
    LeakClass& found = group.found;
    found.least = found.blocks == 0 ? block.size : std::min(found.least, block.size);
    found.most = std::max(found.most, block.size);
    found.bytes += block.size;
    ++found.blocks;
    if (found.example_ns < block.time_ns) {
      found.example_ns = block.time_ns;
      found.example_size = block.size;
    }
    group.steps.insert(block.step);
    group.ranges[block.range] += block.size;
  });
  Leak leak;
  leak.pool = pool;
  leak.first_step = first_;
  leak.last_step = last_;
  std::set<std::int64_t> leaving;
  for (std::size_t index = 0; index < kClasses; ++index) {
    Group& group = groups[index];
    const std::uint64_t freed = pool < freed_late_.size() ? freed_late_[pool][index] : 0;
    if (group.found.blocks == 0 || freed * 10 > group.found.blocks) continue;
    const auto most = std::max_element(group.ranges.begin(), group.ranges.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    group.found.range = most->first;
    leaving.insert(group.steps.begin(), group.steps.end());
    leak.bytes += group.found.bytes;
    leak.blocks += group.found.blocks;
    leak.classes.push_back(group.found);
  }
  leak.leaving_steps = static_cast<std::int64_t>(leaving.size());
  leak.live_then = pool < live_then_.size() ? live_then_[pool] : 0;
  leak.live_last = pool < live_last_.size() ? live_last_[pool] : 0;
  leak.lost_frees = ledger.pools()[pool].lost_frees;
  std::sort(leak.classes.begin(), leak.classes.end(),
            [](const LeakClass& a, const LeakClass& b) { return a.bytes > b.bytes; });
  const bool most_steps = leak.leaving_steps * 5 >= (last_ - first_ + 1) * 4;
  const bool counts =
      leak.bytes_per_step() >= kLeastPerStep && (leak.bytes >= kLeastInAll || leak.bytes >= leak.live_then / 100);
  // What is left behind may take the place of something that is freed elsewhere.
  const bool grows = leak.live_last > leak.live_then && leak.live_last - leak.live_then >= leak.bytes / 2;
  if (!most_steps || !counts || !grows) return std::nullopt;
  return leak;
}

}  // namespace plumbline::checks
