// The memory of one rank: a time line by step for each source and device, the live set at the peak and at each request
// that failed, what leaks.
//
//   const MemoryProfile profile = memory_profile_of(trace);
//   for (const PoolProfile& pool : profile.pools) show(pool.pool, pool.steps, pool.at_peak);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checks/memory_leak.hpp"
#include "checks/memory_ledger.hpp"
#include "checks/memory_live_set.hpp"

namespace plumbline::checks {

struct StepMemory {
  std::uint64_t peak = 0;     // of live bytes in the step
  std::uint64_t end = 0;      // live bytes after its last event
  std::uint64_t largest = 0;  // request
};

struct RangePeak {
  std::uint64_t range = 0;  // text, 0: outside of all ranges
  std::uint64_t bytes = 0;  // live, the most after an allocation made in it
  std::int64_t step = 0;
};

struct PoolProfile {
  MemoryPool pool;  // as it stood at the end
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
  std::vector<StepMemory> steps;  // by logical step, the unfinished one last
  std::vector<RangePeak> phases;  // the highest first
  std::optional<LiveSet> at_peak;
};

struct RefusedRequest {
  MemoryEvent event;
  bool went_on = false;  // the process allocated the same again later, or made another whole step
  LiveSet live;
};

struct MemoryProfile {
  std::vector<PoolProfile> pools;
  std::vector<RefusedRequest> refused;  // in order; those that the caching allocator answered itself are left out
  std::uint64_t refused_more = 0;       // further ones
  std::vector<Leak> leaks;
  bool leak_judged = false;
};

MemoryProfile memory_profile_of(const reader::Trace& trace);

}  // namespace plumbline::checks
