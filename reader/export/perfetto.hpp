// Writes a run as a Perfetto trace: one process a rank, a track a thread.
//
// On a thread's track: ranges and optimizer steps. Below the process: logical steps, the collectives of each group (in
// as many lanes as were under way at once), and counters of allocated and resident memory and of the batches' shape.
// One collective is joined over its ranks by a flow. Times are wall-clock nanoseconds on the first host's clock. Slices
// that never ended reach to the end of their trace and say so.
//
// Slices of one process are held in memory while it is written.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>

#include "reader/run.hpp"
#include "reader/run_clock.hpp"

namespace plumbline::reader {

struct PerfettoOptions {
  std::function<bool(int rank)> takes_rank;  // empty: all
  double from_s = 0;                         // since the run's start
  double to_s = std::numeric_limits<double>::infinity();
};

// Whether all could be written shows in the stream.
void export_perfetto(const Run& run, const RunClock& clock, const PerfettoOptions& options, std::ostream& out);

}  // namespace plumbline::reader
