// One process of a run on its way into a Perfetto trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/export/flows.hpp"
#include "reader/export/perfetto.hpp"
#include "reader/export/perfetto_writer.hpp"
#include "reader/export/slices.hpp"

namespace plumbline::reader {

struct Collective;
struct OptimizerStep;
struct Range;

void write_incident(const RunClock& clock, const PerfettoIncident& incident, PerfettoWriter::Track track,
                    PerfettoWriter& writer);

class PerfettoProcess {
 public:
  PerfettoProcess(const Run& run, std::size_t index, const RunClock& clock, const Flows& flows,
                  const PerfettoOptions& options, PerfettoWriter& writer);

  void write(std::int32_t pid, std::int32_t order);

 private:
  void write_threads();
  void write_logical_steps();
  void write_collectives();
  void write_device_works();
  void write_allocated();
  void write_samples();
  void write_incidents();
  void write_ending();

  // A slice of this process, or false: outside the window, or without a time.
  bool place(std::uint64_t begin_ns, std::uint64_t end_ns, Slice& slice) const;
  std::uint64_t wall(std::uint64_t time_ns) const;
  PerfettoWriter::Track thread_track(std::uint32_t ring);
  void write_collective_lane(PerfettoWriter::Track track, const Slice& slice, const Collective& call);

  const Trace& trace_;
  std::size_t index_;
  const RunClock& clock_;
  const Flows& flows_;
  const PerfettoOptions& options_;
  PerfettoWriter& writer_;
  Query window_;
  std::int32_t pid_ = 0;
  PerfettoWriter::Track process_ = 0;
  std::map<std::uint32_t, PerfettoWriter::Track> threads_;  // by ring
};

}  // namespace plumbline::reader
