#include "checks/memory_profile.hpp"

#include <algorithm>
#include <unordered_map>

namespace plumbline::checks {
namespace {

using recorder::Kind;
using recorder::Source;

// A job that retries in a loop leaves thousands.
constexpr std::size_t kMostRefused = 8;

// The caching allocator frees its cache and asks the driver again.
bool may_be_retried(Source source) {
  return source == Source::kCudaMalloc || source == Source::kCudaAsync || source == Source::kCachingSegment;
}

class Profiler {
 public:
  explicit Profiler(const reader::Trace& trace) : trace_(trace), leak_(trace) {}

  MemoryProfile run() {
    walk_all();
    take_live_sets();
    profile_.leaks = leak_.leaks();
    profile_.leak_judged = leak_.can_judge();
    return std::move(profile_);
  }

 private:
  void walk_all() {
    MemoryLedger ledger(trace_);
    trace_.read(MemoryLedger::query(), [&](const reader::FrameView& frame) {
      ledger.add(frame, [&](const MemoryEvent& event) { see(event, ledger); });
      return true;
    });
    leak_.finish(ledger);
    for (std::size_t pool = 0; pool < profile_.pools.size(); ++pool) {
      PoolProfile& own = profile_.pools[pool];
      own.pool = ledger.pools()[pool];
      for (const auto& [range, peak] : phases_[pool]) own.phases.push_back(peak);
      std::sort(own.phases.begin(), own.phases.end(),
                [](const RangePeak& a, const RangePeak& b) { return a.bytes > b.bytes; });
      fill_quiet_steps(own.steps);
    }
    std::erase_if(profile_.refused, [&](const RefusedRequest& one) {
      return one.went_on && may_be_retried(ledger.pools()[one.event.block.pool].source);
    });
    if (profile_.refused.size() > kMostRefused) {
      profile_.refused_more = profile_.refused.size() - kMostRefused;
      profile_.refused.resize(kMostRefused);
    }
    for (RefusedRequest& one : profile_.refused) one.went_on = one.went_on || one.event.step < trace_.steps().count();
  }

  void see(const MemoryEvent& event, const MemoryLedger& ledger) {
    const std::uint32_t index = event.block.pool;
    if (profile_.pools.size() <= index) {
      profile_.pools.resize(index + 1);
      peak_events_.resize(index + 1, 0);
      phases_.resize(index + 1);
    }
    leak_.see(event, ledger);
    PoolProfile& own = profile_.pools[index];
    const std::uint64_t live = ledger.pools()[index].live_bytes;
    const auto step = static_cast<std::size_t>(std::max<std::int64_t>(event.step, 0));
    if (own.steps.size() <= step) extend(own.steps, step);
    StepMemory& now = own.steps[step];
    now.end = live;
    now.peak = std::max(now.peak, live);
    if (event.kind == Kind::kFree) return;
    now.largest = std::max(now.largest, event.block.size);
    if (event.kind == Kind::kAllocFailed) {
      if (profile_.refused.size() < 64 * kMostRefused) profile_.refused.push_back({event, false, {}});
      return;
    }
    for (RefusedRequest& one : profile_.refused) {
      one.went_on = one.went_on || (one.event.block.pool == index && event.block.size >= one.event.block.size &&
                                    event.time_ns > one.event.time_ns);
    }
    if (live > own.peak_bytes) {
      own.peak_bytes = live;
      own.peak_ns = event.time_ns;
      peak_events_[index] = event.number;
    }
    RangePeak& phase = phases_[index][event.block.range];
    if (live > phase.bytes) phase = {event.block.range, live, event.step};
  }

  // Steps without an event hold what the one before them held.
  static void extend(std::vector<StepMemory>& steps, std::size_t step) {
    const std::uint64_t held = steps.empty() ? 0 : steps.back().end;
    steps.resize(step + 1, {held, held, 0});
  }

  void fill_quiet_steps(std::vector<StepMemory>& steps) const {
    const auto count = static_cast<std::size_t>(trace_.steps().count());
    if (count > steps.size()) extend(steps, count - 1);
  }

  // The same walk again, for the moments that are known to matter only now.
  void take_live_sets() {
    std::uint64_t last = 0;
    for (const RefusedRequest& one : profile_.refused) last = std::max(last, one.event.number);
    for (const std::uint64_t number : peak_events_) last = std::max(last, number);
    const bool has_steps = trace_.steps().count() > 0;
    MemoryLedger ledger(trace_);
    bool done = profile_.pools.empty();
    trace_.read(MemoryLedger::query(), [&](const reader::FrameView& frame) {
      ledger.add(frame, [&](const MemoryEvent& event) {
        const std::uint32_t pool = event.block.pool;
        if (event.number == peak_events_[pool] && profile_.pools[pool].peak_bytes > 0)
          profile_.pools[pool].at_peak = live_set_of(ledger, pool, event.time_ns, event.step, has_steps);
        for (RefusedRequest& one : profile_.refused) {
          if (one.event.number == event.number)
            one.live = live_set_of(ledger, pool, event.time_ns, event.step, has_steps);
        }
        done = done || event.number >= last;
      });
      return !done;
    });
  }

  const reader::Trace& trace_;
  LeakWatch leak_;
  MemoryProfile profile_;
  std::vector<std::uint64_t> peak_events_;                            // by pool
  std::vector<std::unordered_map<std::uint64_t, RangePeak>> phases_;  // by pool, then range
};

}  // namespace

MemoryProfile memory_profile_of(const reader::Trace& trace) { return Profiler(trace).run(); }

}  // namespace plumbline::checks
