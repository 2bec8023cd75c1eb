#include "tools/run_reader/event_source.hpp"

#include <cmath>

#include "reader/steps.hpp"
#include "tools/run_reader/event_json.hpp"

namespace plumbline::tools {
namespace {

reader::Kinds batches_of(recorder::Kind kind) {
  using recorder::Kind;
  switch (kind) {
    case Kind::kAlloc:
    case Kind::kFree:
    case Kind::kAllocFailed:
      return reader::kAllocations;
    case Kind::kCollective:
      return reader::kCollectives;
    case Kind::kCollectiveStart:
    case Kind::kCollectiveEnd:
    case Kind::kCollectiveReturn:
    case Kind::kWait:
    case Kind::kWaitEnd:
      return reader::kMarks;
    case Kind::kRangeBegin:
    case Kind::kRangeEnd:
      return reader::kRanges;
    case Kind::kStepBegin:
    case Kind::kStepEnd:
      return reader::kSteps;
    case Kind::kStepGroup:
      return reader::kStepGroups;
    case Kind::kSample:
      return reader::kSamples;
    case Kind::kComm:
      return reader::kComms;
    case Kind::kDeviceWork:
      return reader::kDeviceWorks;
    default:
      return 0;
  }
}

}  // namespace

std::int64_t step_at(const reader::Trace& trace, std::uint64_t time_ns) {
  return trace.steps().count() == 0 ? -1 : trace.steps().step_at(time_ns);
}

reader::Query EventSource::query(std::size_t trace) const {
  const Filter& filter = context_.options.filter;
  reader::Query query;
  if (!filter.kinds.empty()) {
    query.kinds = 0;
    for (const recorder::Kind kind : filter.kinds) query.kinds |= batches_of(kind);
  }
  if (filter.from_s > 0) query.from_ns = context_.subject.clock().trace_time(trace, filter.from_s);
  if (std::isfinite(filter.to_s)) query.to_ns = context_.subject.clock().trace_time(trace, filter.to_s);
  if (!filter.steps.empty()) {
    const reader::StepTimeline& steps = context_.run.traces()[trace].steps();
    std::uint64_t from = UINT64_MAX;
    std::uint64_t to = 0;
    for (const Interval& interval : filter.steps) {
      from = std::min(from, steps.window(interval.first).from_ns);
      to = std::max(to, interval.last >= steps.count() ? UINT64_MAX : steps.window(interval.last).to_ns);
    }
    query.from_ns = std::max(query.from_ns, from);
    query.to_ns = std::min(query.to_ns, to);
  }
  return query;
}

bool EventSource::takes(const reader::FrameView& frame, const reader::Row& row, std::int64_t step) const {
  const Filter& filter = context_.options.filter;
  return filter.takes_step(step) && filter.takes_kind(kind_of(frame, row));
}

void EventSource::each(std::size_t index, const Visit& visit) const {
  const reader::Trace& trace = context_.run.traces()[index];
  const reader::Query wanted = query(index);
  if (wanted.from_ns > wanted.to_ns) return;
  reader::RowMerger merger;
  trace.read(wanted, [&](const reader::FrameView& frame) {
    merger.start(frame);
    for (reader::Row row; merger.next(row);) {
      if (!wanted.contains(row.time_ns)) continue;
      const std::int64_t step = step_at(trace, row.time_ns);
      if (takes(frame, row, step) && !visit(frame, row, step)) return false;
    }
    return true;
  });
}

}  // namespace plumbline::tools
