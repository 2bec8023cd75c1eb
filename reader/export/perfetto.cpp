#include "reader/export/perfetto.hpp"

#include <map>
#include <ostream>
#include <set>

#include "reader/export/flows.hpp"
#include "reader/export/perfetto_process.hpp"

namespace plumbline::reader {
namespace {

// The viewer keys processes by number, and two hosts may use the same one: then another, out of the kernel's range.
std::int32_t distinct_pid(const Trace& trace, std::size_t index, std::set<std::int32_t>& used) {
  constexpr std::int32_t kAboveAllPids = 1 << 23;
  const auto pid = static_cast<std::int32_t>(trace.pid());
  if (pid > 0 && used.insert(pid).second) return pid;
  return kAboveAllPids + static_cast<std::int32_t>(index);
}

}  // namespace

void export_perfetto(const Run& run, const RunClock& clock, const PerfettoOptions& options, std::ostream& out) {
  PerfettoWriter writer(out);
  writer.anchor(clock.start_realtime_ns(), clock.start_realtime_ns());
  const Flows flows(run);
  std::set<std::int32_t> pids;
  for (std::size_t index = 0; index < run.traces().size() && out; ++index) {
    const Trace& trace = run.traces()[index];
    if (options.takes_rank && !options.takes_rank(trace.rank())) continue;
    PerfettoProcess process(run, index, clock, flows, options, writer);
    process.write(distinct_pid(trace, index, pids), static_cast<std::int32_t>(index));
  }
}

}  // namespace plumbline::reader
