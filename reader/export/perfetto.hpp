// Writes a run as a Perfetto trace: one process a rank, a track a thread.
//
// On a thread's track: ranges and optimizer steps. Below the process: logical steps, the collectives of each group (in
// as many lanes as were under way at once), and counters of allocated and resident memory and of the batches' shape.
// One collective is joined over its ranks by a flow. Times are wall-clock nanoseconds on the first host's clock. Slices
// that never ended reach to the end of their trace and say so.
//
// Slices of one process are held in memory while it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "reader/run.hpp"
#include "reader/run_clock.hpp"

namespace plumbline::reader {

// What somebody found in the run: marked on a track of its own above the ranks, and on one of each rank to blame.
struct PerfettoIncident {
  std::int64_t time_ns = 0;  // since the run's start
  std::vector<std::int32_t> ranks;
  std::string title;
  std::string kind;
  std::string next;  // what to do about it
};

struct PerfettoOptions {
  std::function<bool(int rank)> takes_rank;  // empty: all
  double from_s = 0;                         // since the run's start
  double to_s = std::numeric_limits<double>::infinity();
  std::vector<PerfettoIncident> incidents;
};

// Whether all could be written shows in the stream.
void export_perfetto(const Run& run, const RunClock& clock, const PerfettoOptions& options, std::ostream& out);

}  // namespace plumbline::reader
