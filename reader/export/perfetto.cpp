#include "reader/export/perfetto.hpp"

#include <algorithm>
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

// Those within the window, in the order of their time.
std::vector<PerfettoIncident> shown_incidents(const PerfettoOptions& options) {
  std::vector<PerfettoIncident> incidents = options.incidents;
  std::erase_if(incidents, [&](const PerfettoIncident& one) {
    const double seconds = RunClock::seconds(one.time_ns);
    return seconds < options.from_s || seconds > options.to_s;
  });
  std::stable_sort(incidents.begin(), incidents.end(),
                   [](const PerfettoIncident& a, const PerfettoIncident& b) { return a.time_ns < b.time_ns; });
  return incidents;
}

void mark_incidents(const RunClock& clock, const std::vector<PerfettoIncident>& incidents, PerfettoWriter& writer) {
  if (incidents.empty()) return;
  constexpr std::int32_t kNoProcess = (1 << 23) - 1;  // out of the kernel's range
  const auto track = writer.track(writer.process(kNoProcess, "findings", -1), "incident");
  for (const PerfettoIncident& one : incidents) write_incident(clock, one, track, writer);
}

}  // namespace

void export_perfetto(const Run& run, const RunClock& clock, const PerfettoOptions& options, std::ostream& out) {
  PerfettoWriter writer(out);
  writer.anchor(clock.start_realtime_ns(), clock.start_realtime_ns());
  PerfettoOptions shown = options;
  shown.incidents = shown_incidents(options);
  mark_incidents(clock, shown.incidents, writer);
  const Flows flows(run);
  std::set<std::int32_t> pids;
  for (std::size_t index = 0; index < run.traces().size() && out; ++index) {
    const Trace& trace = run.traces()[index];
    if (options.takes_rank && !options.takes_rank(trace.rank())) continue;
    PerfettoProcess process(run, index, clock, flows, shown, writer);
    process.write(distinct_pid(trace, index, pids), static_cast<std::int32_t>(index));
  }
}

}  // namespace plumbline::reader
