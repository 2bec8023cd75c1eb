// What a summary needs, gathered in one pass over each trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/allocations.hpp"
#include "reader/call_ledger.hpp"
#include "reader/clock_stays.hpp"
#include "reader/collectives.hpp"
#include "reader/run.hpp"
#include "reader/steps.hpp"

namespace plumbline::reader {

struct GroupActivity {
  std::uint64_t group = 0;  // Trace::group(); 0: calls whose group is not known
  std::uint64_t calls = 0;
  std::uint64_t last_seq = 0;
  std::uint64_t point_to_point = 0;
  std::uint64_t pending = 0;
  std::uint64_t failed = 0;  // failed or raised
  std::uint64_t elements_in = 0;
  std::uint64_t busy_ns = 0;  // sum over start (or enqueue) to end
};

// Outermost calls of one operation in one group.
struct CallActivity {
  std::uint64_t group = 0;
  Layer layer = Layer::kC10d;
  Op op = Op::kUnknown;
  std::uint64_t calls = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t pending = 0;
  std::uint64_t failed = 0;     // failed or raised
  std::uint64_t completed = 0;  // with an end that was seen
  std::uint64_t busy_ns = 0;    // of the completed ones, start (or enqueue) to end
  std::uint64_t longest_ns = 0;
};

struct OptimizerActivity {
  std::uint64_t name = 0;
  std::uint64_t steps = 0;
  std::uint64_t outermost = 0;
  std::uint64_t raised = 0;
  std::uint64_t nanoseconds = 0;
};

struct RangeActivity {
  std::uint64_t name = 0;
  std::uint64_t count = 0;
  std::uint64_t nanoseconds = 0;
};

struct TraceSummary {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::array<std::uint64_t, 32> events{};  // by Kind
  std::uint64_t collectives = 0;           // outermost calls (no parent)
  std::array<std::uint64_t, static_cast<std::size_t>(Op::kCount_)> ops{};
  std::vector<GroupActivity> groups;
  std::vector<CallActivity> calls;
  std::vector<Collective> pending;  // oldest first, at most kMaxPending
  std::vector<AllocationStats> allocations;
  std::vector<OptimizerActivity> optimizers;
  std::vector<RangeActivity> ranges;
  std::int64_t logical_steps = 0;
  std::int64_t resident_peak_bytes = 0;  // of the samples; 0: none
  std::uint64_t orphan_marks = 0;
  CallLedger ledger;
  std::vector<GroupStays> stays;

  static constexpr std::size_t kMaxPending = 64;
};

// Keeps at most that many stays of a group.
TraceSummary summarize(const Trace& trace, std::size_t most_stays = StayKeeper::kMost);
// One for each of run.traces(), on several threads.
std::vector<TraceSummary> summarize(const Run& run, const Progress& progress = {});

}  // namespace plumbline::reader
