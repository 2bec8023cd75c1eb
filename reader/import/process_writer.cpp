#include "reader/import/process_writer.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "recorder/trace_builder.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Kind;
using recorder::Outcome;
using recorder::slots_of;
using recorder::TraceBuilder;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

class Writer {
 public:
  Writer(const ImportedProcess& process, TraceBuilder& trace, std::uint64_t start_ns)
      : process_(process), trace_(trace), start_ns_(start_ns) {}

  void write() {
    write_facts();
    for (std::uint32_t i = 0; i < process_.threads.size(); ++i)
      trace_.thread(i, process_.threads[i].tid, process_.threads[i].name);
    write_groups();
    collect_calls();
    collect_ranges();
    for (std::size_t i = 0; i < process_.allocations.size(); ++i)
      collect(time_of(process_.allocations[i].time_ns), What::kAllocation, i);
    for (std::size_t i = 0; i < process_.samples.size(); ++i) collect(process_.samples[i].time_ns, What::kSample, i);
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.time_ns < b.time_ns; });
    for (const ImportedStack& stack : process_.stacks) write_stack(stack);
    for (const Event& event : events_) write_event(event);
    trace_.flush();
    if (process_.exit) {
      const ImportedExit& exit = *process_.exit;
      trace_.finish({exit.status, exit.signal, exit.exception_class, exit.exception_message}, exit.time_ns);
    }
  }

 private:
  enum class What : std::uint8_t { kCall, kStart, kEnd, kReturn, kRangeBegin, kRangeEnd, kAllocation, kSample };
  struct Event {
    std::uint64_t time_ns;
    std::uint32_t index;
    What what;
    std::uint8_t depth;
  };

  // What carries no time is put at the start.
  std::uint64_t time_of(std::uint64_t time_ns) const { return time_ns != 0 ? time_ns : start_ns_; }

  void collect(std::uint64_t time_ns, What what, std::size_t index, std::size_t depth = 0) {
    events_.push_back({time_ns, static_cast<std::uint32_t>(index), what,
                       static_cast<std::uint8_t>(std::min<std::size_t>(depth, 255))});
  }

  std::uint64_t text(const std::string& text) {
    if (text.empty()) return 0;
    const auto [it, is_new] = texts_.try_emplace(text, 0);
    if (is_new) it->second = trace_.text(text);
    return it->second;
  }

  void write_facts() {
    trace_.fact("source.format", joined(process_.formats));
    if (!process_.lacks.empty()) trace_.fact("source.lacks", joined(process_.lacks));
    for (const auto& [key, value] : process_.facts) trace_.fact(key, value);
  }

  void write_groups() {
    for (const ImportedGroup& group : process_.groups) {
      groups_.push_back(trace_.group(group.name, group.description, group.backend, ranks_text(group.ranks), group.rank,
                                     static_cast<std::int32_t>(group.ranks.size())));
      if (!group.status) continue;
      GroupStatus status = *group.status;
      status.group = groups_.back();
      const auto [key, value] = fact_of(status);
      trace_.fact(key, value);
    }
  }

  void write_stack(const ImportedStack& stack) {
    recorder::StackDetails details;
    // A dump without a time is taken when somebody wondered: after all that is known of the process.
    details.time_ns = stack.time_ns != 0 || events_.empty() ? stack.time_ns : events_.back().time_ns;
    details.tid = stack.tid;
    details.thread_name = stack.thread_name;
    details.reason = stack.reason;
    details.detail = stack.detail;
    details.flags = stack.flags;
    for (const ImportedFrame& frame : stack.python)
      details.python.push_back({frame.pc, text(frame.function), text(frame.file), frame.line});
    for (const ImportedFrame& frame : stack.native)
      details.native.push_back({frame.pc, text(frame.function), text(frame.file), frame.line});
    trace_.stack(details);
  }

  void collect_calls() {
    for (std::size_t i = 0; i < process_.calls.size(); ++i) {
      const ImportedCall& call = process_.calls[i];
      // A log without times still has an order.
      const std::uint64_t enqueue_ns = call.enqueue_ns != 0 ? call.enqueue_ns : start_ns_ + 1 + i;
      collect(enqueue_ns, What::kCall, i);
      if (call.start_ns != 0) collect(call.start_ns, What::kStart, i);
      if (call.outcome != Outcome::kPending) collect(std::max(call.end_ns, enqueue_ns), What::kEnd, i);
      if (call.return_ns != 0) collect(call.return_ns, What::kReturn, i);
    }
  }

  // Gives ranges their depth, thread by thread: the outer of two is the one that began earlier, or ended later.
  void collect_ranges() {
    std::vector<std::uint32_t> order(process_.ranges.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto& ranges = process_.ranges;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (ranges[a].thread != ranges[b].thread) return ranges[a].thread < ranges[b].thread;
      if (ranges[a].begin_ns != ranges[b].begin_ns) return ranges[a].begin_ns < ranges[b].begin_ns;
      return ranges[a].end_ns > ranges[b].end_ns;
    });
    std::vector<std::uint32_t> open;
    const auto depth_of = [&](bool steps) {
      return static_cast<std::size_t>(std::count_if(
          open.begin(), open.end(), [&](std::uint32_t one) { return ranges[one].optimizer_step == steps; }));
    };
    const auto close_last = [&] {
      const std::uint32_t last = open.back();
      open.pop_back();
      collect(ranges[last].end_ns, What::kRangeEnd, last, depth_of(ranges[last].optimizer_step));
    };
    for (const std::uint32_t index : order) {
      const ImportedRange& range = ranges[index];
      while (!open.empty() &&
             (ranges[open.back()].thread != range.thread || ranges[open.back()].end_ns <= range.begin_ns))
        close_last();
      collect(range.begin_ns, What::kRangeBegin, index, depth_of(range.optimizer_step));
      open.push_back(index);
    }
    while (!open.empty()) close_last();
  }

  void write_event(const Event& event) {
    switch (event.what) {
      case What::kCall:
        return write_call(event);
      case What::kStart:
        return write_mark(event, Kind::kCollectiveStart, Outcome::kPending);
      case What::kEnd:
        return write_mark(event, Kind::kCollectiveEnd, process_.calls[event.index].outcome);
      case What::kReturn:
        return write_mark(event, Kind::kCollectiveReturn, Outcome::kPending);
      case What::kRangeBegin:
      case What::kRangeEnd:
        return write_range(event);
      case What::kAllocation: {
        const ImportedAllocation& one = process_.allocations[event.index];
        recorder::AllocRecord record{};
        record.header = {event.time_ns, one.kind, 1, 0, recorder::alloc_tag(one.source, one.device)};
        record.address = one.address;
        record.size = one.kind == Kind::kFree ? 0 : one.size;
        return trace_.add(allocation_ring(), record);
      }
      case What::kSample: {
        const ImportedSample& one = process_.samples[event.index];
        recorder::SampleRecord record{};
        record.header = {event.time_ns, Kind::kSample, slots_of<recorder::SampleRecord>(), 0,
                         static_cast<std::uint32_t>(one.counter)};
        record.value = one.value;
        return trace_.add(allocation_ring(), record);
      }
    }
  }

  void write_call(const Event& event) {
    const ImportedCall& call = process_.calls[event.index];
    recorder::CollectiveRecord record{};
    record.header = {event.time_ns, Kind::kCollective, slots_of<recorder::CollectiveRecord>(), 0,
                     recorder::collective_tag(call.op, call.reduce_op, call.dtype, call.layer)};
    record.id = event.index + std::uint64_t{1};
    record.group = call.group < 0 ? 0 : groups_[static_cast<std::size_t>(call.group)];
    record.seq = call.seq;
    record.count_in = call.count_in;
    record.count_out = call.count_out;
    record.peer = call.peer;
    record.tensors_in = call.tensors_in;
    record.tensors_out = call.tensors_out;
    record.stream = call.stream;
    record.splits_hash = call.uneven ? 1 : 0;
    record.site = text(call.site);
    trace_.add(call.thread, record);
  }

  void write_mark(const Event& event, Kind kind, Outcome outcome) {
    recorder::CollectiveMarkRecord record{};
    record.header = {event.time_ns, kind, slots_of<recorder::CollectiveMarkRecord>(), 0,
                     static_cast<std::uint32_t>(outcome)};
    record.id = event.index + std::uint64_t{1};
    trace_.add(process_.calls[event.index].thread, record);
  }

  void write_range(const Event& event) {
    const ImportedRange& range = process_.ranges[event.index];
    const bool begin = event.what == What::kRangeBegin;
    const std::uint64_t handle = event.index + std::uint64_t{1};
    if (range.optimizer_step) {
      recorder::StepRecord record{};
      record.header = {event.time_ns, begin ? Kind::kStepBegin : Kind::kStepEnd, slots_of<recorder::StepRecord>(),
                       event.depth, 0};
      record.handle = handle;
      record.name = text(range.name);
      return trace_.add(range.thread, record);
    }
    constexpr std::uint32_t kUserScope = 7;
    recorder::RangeRecord record{};
    record.header = {event.time_ns, begin ? Kind::kRangeBegin : Kind::kRangeEnd, slots_of<recorder::RangeRecord>(),
                     event.depth, kUserScope};
    record.name = text(range.name);
    record.handle = handle;
    trace_.add(range.thread, record);
  }

  // Allocations and samples are of the process as a whole: a ring behind those of its threads.
  std::uint32_t allocation_ring() const { return static_cast<std::uint32_t>(process_.threads.size()); }

  const ImportedProcess& process_;
  TraceBuilder& trace_;
  std::uint64_t start_ns_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  std::vector<std::uint64_t> groups_;  // ids, beside process_.groups
  std::vector<Event> events_;
};

}  // namespace

std::uint64_t first_time(const ImportedProcess& process) {
  std::uint64_t first = ~std::uint64_t{0};
  const auto note = [&](std::uint64_t time_ns) {
    if (time_ns != 0) first = std::min(first, time_ns);
  };
  for (const ImportedCall& call : process.calls) note(call.enqueue_ns);
  for (const ImportedAllocation& one : process.allocations) note(one.time_ns);
  for (const ImportedRange& one : process.ranges) note(one.begin_ns);
  for (const ImportedSample& one : process.samples) note(one.time_ns);
  for (const ImportedStack& one : process.stacks) note(one.time_ns);
  if (process.exit) note(process.exit->time_ns);
  return first == ~std::uint64_t{0} ? 0 : first;
}

Status write_process(const ImportedProcess& process, const std::string& directory, std::uint64_t start_ns) {
  recorder::TraceBuilderOptions options;
  options.host = process.host.empty() ? "unknown" : process.host;
  // One clock for all: that of the walls, which the hosts are taken to agree on.
  options.boot_id = "imported";
  options.pid = process.pid;
  options.rank = process.rank;
  options.local_rank = process.local_rank;
  options.world_size = process.world_size;
  options.start_monotonic_ns = start_ns;
  options.start_realtime_ns = start_ns;
  TraceBuilder trace(directory, options);
  if (trace.error().empty()) Writer(process, trace, start_ns).write();
  if (!trace.error().empty()) return {Code::kUnreadable, trace.error() + "."};
  return {};
}

}  // namespace plumbline::reader::imports
