// What was held at one moment, and by whom: the largest blocks, and all of them by where they came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/memory_ledger.hpp"

namespace plumbline::checks {

enum class Age : std::uint8_t {
  kFirstStep,  // made before the end of the first step: parameters, optimizer state
  kEarlier,    // made in a step between
  kThisStep,
};

// Blocks of one age and range.
struct LiveGroup {
  Age age = Age::kThisStep;
  std::uint64_t range = 0;  // text, 0 none
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  MemoryBlock largest;
};

struct LiveSet {
  std::uint32_t pool = 0;
  std::uint64_t time_ns = 0;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::vector<MemoryBlock> largest;  // the largest first
  std::vector<LiveGroup> groups;     // the largest first
  // Of blocks of the caching allocator whose segments were recorded, else 0.
  std::uint64_t reserved = 0;      // in segments
  std::uint64_t unused = 0;        // of that, in no block
  std::uint64_t largest_hole = 0;  // the largest piece of that
};

LiveSet live_set_of(const MemoryLedger& ledger, std::uint32_t pool, std::uint64_t time_ns, std::int64_t step,
                    bool has_steps);

// The script's line that asked for that many bytes, from the recorded stacks; empty when not known. Of one place and
// size only the first request has a stack.
std::string line_of_request(const reader::Trace& trace, std::uint64_t size, std::uint64_t time_ns);

// "made in step 7 in DistributedDataParallel.forward", "made before the end of the first step".
std::string origin_text(const reader::Trace& trace, const LiveGroup& group, std::int64_t step);

}  // namespace plumbline::checks
