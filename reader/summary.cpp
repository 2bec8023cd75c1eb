#include "reader/summary.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "reader/names.hpp"
#include "reader/ranges.hpp"

namespace plumbline::reader {
namespace {

// Rows found by an id, in the order of first sight, with the last one at hand: calls come in runs.
template <class Row>
class Table {
 public:
  explicit Table(std::vector<Row>& rows) : rows_(rows) {}

  Row& operator[](std::uint64_t id) {
    if (last_ < rows_.size() && last_id_ == id) return rows_[last_];
    const auto [it, fresh] = index_.try_emplace(id, rows_.size());
    if (fresh) rows_.emplace_back();
    last_ = it->second;
    last_id_ = id;
    return rows_[last_];
  }

 private:
  std::vector<Row>& rows_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::size_t last_ = 0;
  std::uint64_t last_id_ = 0;
};

class Gatherer {
 public:
  explicit Gatherer(std::size_t most_stays) : stays_(most_stays) {}

  void add(const FrameView& frame) {
    count(frame);
    allocations_.add(frame);
    ledger_.add(frame);
    const auto on_collective = [&](const Collective& c) { add_collective(c); };
    const auto on_step = [&](const OptimizerStep& s) { add_step(s); };
    const auto on_range = [&](const Range& r) { add_range(r); };
    if (!frame.collectives.empty() || !frame.marks.empty()) collectives_.add(frame, on_collective);
    numbering_.missing(frame.evicted);
    if (!frame.steps.empty() || !frame.step_groups.empty()) steps_.add(frame, on_step);
    if (!frame.ranges.empty()) ranges_.add(frame, on_range);
  }

  TraceSummary finish(const Trace& trace) {
    collectives_.finish(trace.in_flight(), [&](const Collective& c) { add_collective(c); });
    steps_.finish([&](const OptimizerStep& s) { add_step(s); });
    ranges_.finish([&](const Range& r) { add_range(r); });
    summary_.allocations.assign(allocations_.stats().begin(), allocations_.stats().end());
    summary_.logical_steps = numbering_.timeline().count();
    summary_.orphan_marks = collectives_.orphan_marks();
    summary_.ledger = ledger_.finish();
    summary_.stays = stays_.finish(trace);
    summary_.first_ns = trace.first_ns();
    summary_.last_ns = trace.last_ns();
    return std::move(summary_);
  }
  StepTimeline& timeline() { return numbering_.timeline(); }

 private:
  void count_kinds(Bytes kinds) {
    for (const std::uint8_t kind : kinds) summary_.events[kind & 31] += 1;
  }
  std::uint64_t& events(Kind kind) { return summary_.events[static_cast<std::size_t>(kind)]; }

  void count(const FrameView& frame) {
    for (const AllocationBatch& batch : frame.allocations) count_kinds(batch.kind);
    for (const MarkBatch& batch : frame.marks) count_kinds(batch.kind);
    for (const RangeBatch& batch : frame.ranges) count_kinds(batch.kind);
    for (const StepBatch& batch : frame.steps) count_kinds(batch.kind);
    for (const CollectiveBatch& batch : frame.collectives) events(Kind::kCollective) += batch.count;
    for (const StepGroupBatch& batch : frame.step_groups) events(Kind::kStepGroup) += batch.count;
    for (const CommBatch& batch : frame.comms) events(Kind::kComm) += batch.count;
    for (const DeviceWorkBatch& batch : frame.device_works) events(Kind::kDeviceWork) += batch.count;
    for (const SampleBatch& batch : frame.samples) {
      events(Kind::kSample) += batch.count;
      for (std::size_t i = 0; i < batch.count; ++i)
        if (batch.counter[i] == static_cast<std::uint64_t>(Counter::kResidentBytes))
          summary_.resident_peak_bytes =
              std::max(summary_.resident_peak_bytes, static_cast<std::int64_t>(batch.value[i]));
    }
  }

  void add_collective(const Collective& c) {
    ledger_.settle(c);
    stays_.add(c);
    GroupActivity& group = groups_[c.group];
    group.group = c.group;
    ++group.calls;
    if (is_point_to_point(c.op))
      ++group.point_to_point;
    else
      group.last_seq = std::max(group.last_seq, c.seq);
    group.elements_in += c.count_in;
    if (c.end_ns != 0) group.busy_ns += c.end_ns - std::min(c.end_ns, c.start_ns != 0 ? c.start_ns : c.enqueue_ns);
    if (c.outcome == Outcome::kFailed || c.outcome == Outcome::kRaised) ++group.failed;
    if (c.parent == 0) add_call(c);
    ++summary_.ops[std::min(static_cast<std::size_t>(c.op), summary_.ops.size() - 1)];
    if (c.settled()) return;
    ++group.pending;
    if (summary_.pending.size() < TraceSummary::kMaxPending) summary_.pending.push_back(c);
  }

  void add_call(const Collective& c) {
    ++summary_.collectives;
    // A group's id is a hash: one of its neighbours is not another group's.
    const auto kind = static_cast<std::uint64_t>(c.op) << 8 | static_cast<std::uint64_t>(c.layer);
    CallActivity& calls = calls_[c.group ^ kind];
    calls.group = c.group;
    calls.layer = c.layer;
    calls.op = c.op;
    ++calls.calls;
    calls.bytes_in += c.count_in * size_of(c.dtype);
    calls.bytes_out += c.count_out * size_of(c.dtype);
    if (!c.settled()) ++calls.pending;
    if (c.outcome == Outcome::kFailed || c.outcome == Outcome::kRaised) ++calls.failed;
    if (c.outcome != Outcome::kCompleted || c.end_ns == 0) return;
    const std::uint64_t begin_ns = std::min(c.end_ns, c.start_ns != 0 ? c.start_ns : c.enqueue_ns);
    ++calls.completed;
    calls.busy_ns += c.end_ns - begin_ns;
    calls.longest_ns = std::max(calls.longest_ns, c.end_ns - begin_ns);
  }

  void add_step(const OptimizerStep& step) {
    numbering_.end(step);
    OptimizerActivity& optimizer = optimizers_[step.name];
    optimizer.name = step.name;
    ++optimizer.steps;
    if (step.raised) ++optimizer.raised;
    if (step.begin_ns != 0 && step.end_ns > step.begin_ns) optimizer.nanoseconds += step.end_ns - step.begin_ns;
    if (step.depth == 0) ++optimizer.outermost;
  }

  void add_range(const Range& range) {
    RangeActivity& activity = range_rows_[range.name];
    activity.name = range.name;
    ++activity.count;
    if (range.begin_ns != 0 && range.end_ns > range.begin_ns) activity.nanoseconds += range.end_ns - range.begin_ns;
  }

  TraceSummary summary_;
  AllocationAnalyzer allocations_;
  CollectiveJoin collectives_;
  LedgerKeeper ledger_;
  StayKeeper stays_;
  OptimizerStepJoin steps_;
  StepNumbering numbering_;
  RangeJoin ranges_;
  Table<GroupActivity> groups_{summary_.groups};
  Table<CallActivity> calls_{summary_.calls};
  Table<OptimizerActivity> optimizers_{summary_.optimizers};
  Table<RangeActivity> range_rows_{summary_.ranges};
};

}  // namespace

TraceSummary summarize(const Trace& trace, std::size_t most_stays) {
  Gatherer gatherer(most_stays);
  trace.read({}, [&](const FrameView& frame) {
    gatherer.add(frame);
    return true;
  });
  TraceSummary summary = gatherer.finish(trace);
  trace.keep_steps(std::move(gatherer.timeline()));
  return summary;
}

std::vector<TraceSummary> summarize(const Run& run, const Progress& progress) {
  std::vector<TraceSummary> summaries(run.traces().size());
  std::atomic<std::size_t> done{0};
  run.for_each_trace([&](std::size_t i, const Trace& trace) {
    summaries[i] = summarize(trace, StayKeeper::most_in(summaries.size()));
    if (progress) progress(++done, summaries.size());
  });
  return summaries;
}

}  // namespace plumbline::reader
