#include "tests/fuzz/read_everything.hpp"

#include "reader/clock.hpp"
#include "reader/match.hpp"
#include "reader/merge.hpp"
#include "reader/ranges.hpp"
#include "reader/run.hpp"
#include "reader/summary.hpp"

namespace plumbline::fuzz {
namespace {

// Touches every cell, so that a span over memory that is not there shows under a sanitizer.
template <class Batch>
std::uint64_t touch(const Batch& batch, std::initializer_list<reader::Column> columns) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < batch.count; ++i) sum += batch.time_ns[i];
  for (const reader::Column column : columns)
    for (std::size_t i = 0; i < batch.count; ++i) sum += column[i];
  return sum;
}

std::uint64_t touch(const reader::FrameView& frame) {
  std::uint64_t sum = 0;
  for (const auto& b : frame.allocations) sum += touch(b, {b.tag, b.address, b.size}) + b.kind[b.count - 1];
  for (const auto& b : frame.collectives)
    sum += touch(b, {b.tag, b.id, b.group, b.seq, b.count_in, b.count_out, b.peer, b.tensor_tag, b.parent, b.buffer_in,
                     b.buffer_out, b.stream, b.tensors_in, b.tensors_out, b.splits_hash, b.site});
  for (const auto& b : frame.marks) sum += touch(b, {b.outcome, b.id, b.code}) + b.kind[b.count - 1];
  for (const auto& b : frame.ranges) sum += touch(b, {b.depth, b.scope, b.name, b.handle}) + b.kind[b.count - 1];
  for (const auto& b : frame.steps)
    sum += touch(b, {b.depth, b.raised, b.handle, b.name, b.optimizer, b.key}) + b.kind[b.count - 1];
  for (const auto& b : frame.step_groups)
    sum += touch(b, {b.tag, b.handle, b.optimizer, b.key, b.lr, b.weight_decay, b.beta1, b.beta2, b.eps, b.momentum,
                     b.step, b.params, b.params_with_grad, b.elements});
  for (const auto& b : frame.samples) sum += touch(b, {b.counter, b.value});
  for (const auto& b : frame.comms)
    sum += touch(b, {b.event, b.comm, b.parent, b.unique_id_hash, b.rank, b.size, b.code, b.group});
  for (const auto& b : frame.device_works)
    sum += touch(b, {b.tag, b.duration_ns, b.name, b.parent, b.bytes, b.stream, b.correlation});
  return sum;
}

void read_rows(const reader::Trace& trace, Outcome& outcome) {
  std::uint64_t sum = 0;
  trace.read({}, [&](const reader::FrameView& frame) {
    sum += touch(frame);
    std::size_t rows = 0;
    reader::for_each_row(frame, [&](const reader::Row&) {
      ++rows;
      return true;
    });
    if (frame.from_ring)
      outcome.ring_rows += rows;
    else
      outcome.by_frame[frame.offset] += rows;
    return true;
  });
  outcome.checksum = sum;
}

}  // namespace

Outcome read_everything(const std::string& path) {
  Outcome outcome;
  const reader::Result<reader::Run> run = reader::Run::open(path, {.threads = 1});
  if (!run.ok()) {
    outcome.sentence = run.status().message();
    return outcome;
  }
  outcome.opened = true;
  read_rows(run->traces().front(), outcome);
  run->stats();
  run->missing_ranks();
  for (const reader::TraceSummary& summary : reader::summarize(*run)) (void)summary;
  for (const reader::Trace& trace : run->traces()) {
    trace.exit();
    reader::read_collectives(trace, {}, [](const reader::Collective&) { return true; });
    reader::read_optimizer_steps(trace, {}, [](const reader::OptimizerStep&) { return true; });
    reader::read_ranges(trace, {}, [](const reader::Range&) { return true; });
    reader::AllocationAnalyzer analyzer;
    trace.read({.kinds = reader::kAllocations}, [&](const reader::FrameView& frame) {
      analyzer.add(frame);
      return true;
    });
    analyzer.live();
  }
  reader::match_collectives(*run, {.steps = true}, [&](const reader::MatchedCollective& m) {
    outcome.checksum += m.complete() ? 1 : 0;
    return true;
  });
  const reader::ClockAlignment alignment = reader::ClockAlignment::estimate(*run);
  alignment.align(0, run->traces().front().first_ns());
  return outcome;
}

}  // namespace plumbline::fuzz
