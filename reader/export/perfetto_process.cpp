#include "reader/export/perfetto_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "reader/allocations.hpp"
#include "reader/collectives.hpp"
#include "reader/export/counter_thinner.hpp"
#include "reader/names.hpp"
#include "reader/ranges.hpp"
#include "reader/steps.hpp"

namespace plumbline::reader {
namespace {

// Finer than a viewer shows of a whole run, coarse enough for a counter that changes a million times a second.
constexpr std::uint64_t kCounterIntervalNs = 200'000;

// What a thread's track shows, with the facts that its slice carries.
struct ThreadSlice {
  std::string name;
  std::string_view category;
  bool open = false;
  std::vector<std::pair<std::string_view, double>> numbers;
};

std::string process_name(const Trace& trace) {
  std::string name = trace.rank() >= 0 ? "rank " + std::to_string(trace.rank()) : "no rank";
  if (trace.attempt() > 0) name += ", attempt " + std::to_string(trace.attempt());
  return name + ", " + trace.host();
}

ThreadSlice of_range(const Trace& trace, const Range& range) {
  return {std::string(trace.text(range.name)), "range", range.end_ns == 0, {}};
}

ThreadSlice of_step(const Trace& trace, const OptimizerStep& step) {
  ThreadSlice slice{std::string(trace.text(step.name)), "optimizer", step.end_ns == 0, {}};
  slice.numbers.emplace_back("step", static_cast<double>(step.logical_step));
  for (const StepGroup& group : step.groups) {
    if (!std::isnan(group.lr)) slice.numbers.emplace_back("lr", group.lr);
    if (!std::isnan(group.weight_decay)) slice.numbers.emplace_back("weight_decay", group.weight_decay);
    slice.numbers.emplace_back("params_with_grad", static_cast<double>(group.params_with_grad));
  }
  return slice;
}

// Counters of the process that become tracks.
struct SampleTrack {
  Counter counter;
  std::string_view name;
  CounterUnit unit;
};
constexpr std::array<SampleTrack, 3> kSampleTracks = {
    {{Counter::kResidentBytes, "resident memory", CounterUnit::kBytes},
     {Counter::kBatchRows, "batch: rows", CounterUnit::kCount},
     {Counter::kBatchLength, "batch: row length", CounterUnit::kCount}}};

const SampleTrack* shown_as(Counter counter) {
  const auto* const found = std::find_if(kSampleTracks.begin(), kSampleTracks.end(),
                                         [&](const SampleTrack& track) { return track.counter == counter; });
  return found != kSampleTracks.end() ? found : nullptr;
}

}  // namespace

PerfettoProcess::PerfettoProcess(const Run& run, std::size_t index, const RunClock& clock, const Flows& flows,
                                 const PerfettoOptions& options, PerfettoWriter& writer)
    : trace_(run.traces()[index]), index_(index), clock_(clock), flows_(flows), options_(options), writer_(writer) {
  if (options.from_s > 0) window_.from_ns = clock.trace_time(index, options.from_s);
  if (std::isfinite(options.to_s)) window_.to_ns = clock.trace_time(index, options.to_s);
}

void write_incident(const RunClock& clock, const PerfettoIncident& incident, PerfettoWriter::Track track,
                    PerfettoWriter& writer) {
  const std::array<Annotation, 1> next = {{{"next", std::string_view(incident.next)}}};
  const auto wall = static_cast<std::int64_t>(clock.start_realtime_ns()) + incident.time_ns;
  writer.instant(track, static_cast<std::uint64_t>(wall), incident.title, incident.kind, next);
}

void PerfettoProcess::write(std::int32_t pid, std::int32_t order) {
  pid_ = pid;
  process_ = writer_.process(pid, process_name(trace_), order);
  write_incidents();
  write_logical_steps();
  write_threads();
  write_collectives();
  write_device_works();
  write_allocated();
  write_samples();
  write_ending();
}

void PerfettoProcess::write_incidents() {
  PerfettoWriter::Track track = 0;
  for (const PerfettoIncident& one : options_.incidents) {
    if (std::find(one.ranks.begin(), one.ranks.end(), trace_.rank()) == one.ranks.end()) continue;
    if (track == 0) track = writer_.track(process_, "incident");
    write_incident(clock_, one, track, writer_);
  }
}

std::uint64_t PerfettoProcess::wall(std::uint64_t time_ns) const {
  const std::int64_t since_start = clock_.since_start(index_, time_ns);
  const auto start = static_cast<std::int64_t>(clock_.start_realtime_ns());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, start + since_start));
}

bool PerfettoProcess::place(std::uint64_t begin_ns, std::uint64_t end_ns, Slice& slice) const {
  if (begin_ns == 0) return false;
  if (end_ns == 0) end_ns = trace_.last_ns();
  end_ns = std::max(begin_ns, end_ns);
  if (end_ns < window_.from_ns || begin_ns > window_.to_ns) return false;
  slice.begin_ns = wall(begin_ns);
  slice.end_ns = std::max(slice.begin_ns, wall(end_ns));
  return true;
}

PerfettoWriter::Track PerfettoProcess::thread_track(std::uint32_t ring) {
  const auto known = threads_.find(ring);
  if (known != threads_.end()) return known->second;
  const Thread* thread = trace_.definitions().thread(ring);
  const std::int64_t tid = thread != nullptr ? thread->tid : static_cast<std::int64_t>(ring) + 1;
  const std::string name = thread != nullptr ? thread->name : "ring " + std::to_string(ring);
  return threads_.emplace(ring, writer_.thread(process_, pid_, tid, name)).first->second;
}

void PerfettoProcess::write_threads() {
  std::map<std::uint32_t, std::vector<Slice>> by_ring;
  std::vector<ThreadSlice> details;
  const auto add = [&](std::uint32_t ring, Slice slice, std::uint32_t depth, ThreadSlice detail) {
    slice.depth = depth;
    slice.payload = details.size();
    details.push_back(std::move(detail));
    by_ring[ring].push_back(slice);
  };
  Slice slice;
  read_ranges(trace_, window_, [&](const Range& range) {
    if (place(range.begin_ns, range.end_ns, slice)) add(range.ring, slice, range.depth, of_range(trace_, range));
    return true;
  });
  read_optimizer_steps(trace_, window_, [&](const OptimizerStep& step) {
    // An optimizer's own range, where there is one, has the same times: it goes outside.
    constexpr std::uint32_t kInsideRanges = 1000;
    if (place(step.begin_ns, step.end_ns, slice)) {
      add(step.ring, slice, kInsideRanges + step.depth, of_step(trace_, step));
    }
    return true;
  });
  const auto begin = [&](PerfettoWriter::Track track, const Slice& one) {
    const ThreadSlice& detail = details[one.payload];
    std::vector<Annotation> annotations;
    for (const auto& [name, value] : detail.numbers) annotations.push_back({name, value});
    if (detail.open) annotations.push_back({"ended", std::string_view("not seen")});
    writer_.begin(track, one.begin_ns, detail.name, detail.category, annotations);
  };
  for (auto& [ring, slices] : by_ring) {
    const PerfettoWriter::Track track = thread_track(ring);
    sort_for_nesting(slices);
    const std::vector<Slice> crossing = take_crossing(slices);
    walk(
        slices, [&](const Slice& one) { begin(track, one); },
        [&](const Slice& one) { writer_.end(track, one.end_ns); });
    const std::vector<std::size_t> lanes = lanes_of(crossing);
    std::map<std::size_t, PerfettoWriter::Track> lane_tracks;
    for (std::size_t at = 0; at < crossing.size(); ++at) {
      auto [lane, fresh] = lane_tracks.try_emplace(lanes[at], 0);
      if (fresh) lane->second = writer_.track(process_, "ranges that cross others");
      begin(lane->second, crossing[at]);
      writer_.end(lane->second, crossing[at].end_ns);
    }
  }
}

void PerfettoProcess::write_logical_steps() {
  const StepTimeline& steps = trace_.steps();
  if (steps.count() == 0) return;
  const PerfettoWriter::Track track = writer_.track(process_, "logical steps");
  Slice slice;
  for (std::int64_t step = 0; step < steps.count(); ++step) {
    const StepTimeline::Window window = steps.window(step);
    const std::uint64_t from = std::max(window.from_ns, trace_.first_ns());
    if (!place(from, window.to_ns, slice)) continue;
    writer_.begin(track, slice.begin_ns, "step " + std::to_string(step), "step");
    writer_.end(track, slice.end_ns);
  }
}

void PerfettoProcess::write_collectives() {
  std::map<std::uint64_t, std::vector<Slice>> by_group;
  std::vector<Collective> calls;
  CollectiveQuery query;
  query.to_ns = window_.to_ns;
  Slice slice;
  read_collectives(trace_, query, [&](const Collective& call) {
    const bool over = call.settled();
    if (!place(call.enqueue_ns, over ? call.last_seen_ns() : 0, slice)) return true;
    slice.payload = calls.size();
    calls.push_back(call);
    by_group[call.group].push_back(slice);
    return true;
  });
  for (auto& [group_id, slices] : by_group) {
    const Group* group = trace_.group(group_id);
    std::string name = "collectives";
    if (group != nullptr) name += " of " + (group->description.empty() ? group->name : group->description);
    sort_for_nesting(slices);
    const std::vector<std::size_t> lanes = lanes_of(slices);
    std::map<std::size_t, PerfettoWriter::Track> lane_tracks;
    for (std::size_t at = 0; at < slices.size(); ++at) {
      auto [lane, fresh] = lane_tracks.try_emplace(lanes[at], 0);
      if (fresh) lane->second = writer_.track(process_, name);
      write_collective_lane(lane->second, slices[at], calls[slices[at].payload]);
    }
  }
}

void PerfettoProcess::write_collective_lane(PerfettoWriter::Track track, const Slice& slice, const Collective& call) {
  const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  std::vector<Annotation> annotations = {{"seq", number(call.seq)},
                                         {"call", number(call.id)},
                                         {"step", call.step},
                                         {"layer", name_of(call.layer)},
                                         {"dtype", name_of(call.dtype)},
                                         {"elements_in", number(call.count_in)},
                                         {"elements_out", number(call.count_out)},
                                         {"outcome", name_of(call.outcome)}};
  if (const auto reduce = name_of(call.reduce_op); !reduce.empty()) annotations.push_back({"reduce_op", reduce});
  const Group* group = trace_.group(call.group);
  if (call.peer >= 0) {
    annotations.push_back({is_point_to_point(call.op) ? "peer" : "root",
                           std::int64_t{group != nullptr ? group->global_rank(call.peer) : call.peer}});
  }
  if (call.start_ns != 0) {
    annotations.push_back(
        {"queued_ms", static_cast<double>(call.start_ns - std::min(call.start_ns, call.enqueue_ns)) / 1e6});
  }
  writer_.begin(track, slice.begin_ns, std::string(name_of(call.op)) + " #" + std::to_string(call.seq), "collective",
                annotations, flows_.of(index_, call.id));
  writer_.end(track, slice.end_ns);
}

void PerfettoProcess::write_allocated() {
  struct Counters {
    PerfettoProcess* self;
    std::map<std::pair<Source, int>, CounterThinner> by_source;

    static void observe(void* context, const AllocationStats& stats, std::uint64_t time_ns) {
      auto& [self, by_source] = *static_cast<Counters*>(context);
      if (!self->window_.contains(time_ns)) return;
      const std::pair key{stats.source, stats.device};
      auto at = by_source.find(key);
      if (at == by_source.end()) {
        std::string name = "allocated, " + std::string(name_of(stats.source));
        if (stats.device >= 0) name += " " + std::to_string(stats.device);
        const PerfettoWriter::Track track = self->writer_.counter(self->process_, name, CounterUnit::kBytes);
        const auto emit = [self = self, track](std::uint64_t time, std::int64_t value) {
          self->writer_.value(track, self->wall(time), value);
        };
        at = by_source.try_emplace(key, kCounterIntervalNs, emit).first;
      }
      at->second.add(time_ns, static_cast<std::int64_t>(stats.live_bytes));
    }
  };
  Counters counters{this, {}};
  AllocationAnalyzer analyzer;
  analyzer.observe(&Counters::observe, &counters);
  // From the start on whatever the window: what is held in it may have been allocated long before.
  Query query;
  query.kinds = kAllocations;
  query.to_ns = window_.to_ns;
  std::optional<PerfettoWriter::Track> failures;
  trace_.read(query, [&](const FrameView& frame) {
    analyzer.add(frame);
    for (const AllocationBatch& batch : frame.allocations) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (static_cast<Kind>(batch.kind[row]) != Kind::kAllocFailed || !window_.contains(batch.time_ns[row])) continue;
        if (!failures) failures = writer_.track(process_, "failed allocations");
        const std::array<Annotation, 1> bytes = {{{"bytes", static_cast<std::int64_t>(batch.size[row])}}};
        writer_.instant(*failures, wall(batch.time_ns[row]), "allocation failed", "memory", bytes);
      }
    }
    return true;
  });
  for (auto& [key, thinner] : counters.by_source) thinner.finish();
}

void PerfettoProcess::write_samples() {
  std::map<Counter, PerfettoWriter::Track> tracks;
  Query query = window_;
  query.kinds = kSamples;
  trace_.read(query, [&](const FrameView& frame) {
    for (const SampleBatch& batch : frame.samples) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        const auto counter = static_cast<Counter>(batch.counter[row]);
        const SampleTrack* const shown = shown_as(counter);
        if (shown == nullptr || !query.contains(batch.time_ns[row])) continue;
        auto track = tracks.find(counter);
        if (track == tracks.end())
          track = tracks.emplace(counter, writer_.counter(process_, shown->name, shown->unit)).first;
        writer_.value(track->second, wall(batch.time_ns[row]), static_cast<std::int64_t>(batch.value[row]));
      }
    }
    return true;
  });
}

void PerfettoProcess::write_ending() {
  const ExitInfo* exit = trace_.exit();
  const std::uint64_t time_ns = exit != nullptr ? exit->time_ns : trace_.last_ns();
  if (time_ns == 0 || !window_.contains(time_ns)) return;
  std::string what = "no exit record";
  if (exit != nullptr) {
    what = exit->signal != 0 ? "signal " + std::to_string(exit->signal) : "exit " + std::to_string(exit->status);
    if (!exit->exception_class.empty()) what += ", " + exit->exception_class;
  }
  writer_.instant(writer_.track(process_, "end of process"), wall(time_ns), what, "process");
}

}  // namespace plumbline::reader
