#include "checks/testing/fake_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reader/collectives.hpp"

#include "reader/ranges.hpp"

namespace plumbline::checks::testing {
namespace {

using recorder::Kind;

recorder::TraceBuilderOptions builder_options(std::int32_t rank, std::int32_t world, const RankOptions& options) {
  recorder::TraceBuilderOptions built;
  built.host = options.host;
  built.boot_id = options.boot_id;
  built.pid = options.pid != 0 ? options.pid : 1000 + static_cast<std::uint32_t>(rank);
  built.rank = rank;
  built.local_rank = rank;
  built.world_size = world;
  built.attempt = options.attempt;
  built.start_monotonic_ns = options.start_monotonic_ns;
  built.start_realtime_ns = options.start_realtime_ns;
  return built;
}

}  // namespace

FakeRank::FakeRank(const std::string& directory, std::int32_t rank, std::int32_t world, const RankOptions& options)
    : rank_(rank), options_(options), trace_(directory, builder_options(rank, world, options)) {
  EXPECT_EQ(trace_.error(), "");
  trace_.thread(0, 1000 + static_cast<std::uint32_t>(rank), "python");
}

std::uint64_t FakeRank::group(std::string_view name, std::string_view description, std::string_view ranks,
                              std::int32_t local, std::string_view backend) {
  const auto size = static_cast<std::int32_t>(std::count(ranks.begin(), ranks.end(), ',')) + 1;
  return trace_.group(name, description, backend, ranks, local >= 0 ? local : rank_, size);
}

std::uint64_t FakeRank::call(double ms, std::uint64_t group, Op op, const CallDetails& details) {
  recorder::CollectiveRecord record{};
  record.header = {at(ms), Kind::kCollective, recorder::slots_of<recorder::CollectiveRecord>(), 0,
                   recorder::collective_tag(op, details.reduce, details.dtype, details.layer)};
  record.id = next_id_++;
  record.group = group;
  record.seq = reader::is_point_to_point(op) ? next_p2p_seq_[group]++ : next_seq_[group]++;
  record.count_in = details.count;
  record.count_out = details.count_out < 0 ? details.count : static_cast<std::uint64_t>(details.count_out);
  record.splits_hash = details.splits;
  record.peer = details.peer;
  record.tensor_tag = details.tag;
  record.parent = details.parent;
  record.tensors_in = 1;
  record.tensors_out = 1;
  if (!details.site.empty()) record.site = trace_.text(details.site);
  trace_.add(0, record);
  return record.id;
}

void FakeRank::start(double ms, std::uint64_t id) {
  trace_.add(0, reader::testing::mark(at(ms), Kind::kCollectiveStart, id));
}

void FakeRank::end(double ms, std::uint64_t id, Outcome outcome) {
  trace_.add(0, reader::testing::end_of(at(ms), id, outcome));
}

void FakeRank::returned(double ms, std::uint64_t id, std::int64_t code) {
  trace_.add(0, reader::testing::mark(at(ms), Kind::kCollectiveReturn, id, Outcome::kPending, code));
}

void FakeRank::wait(double ms, std::uint64_t id) { trace_.add(0, reader::testing::mark(at(ms), Kind::kWait, id)); }

void FakeRank::whole_call(double ms, double end_ms, std::uint64_t group, Op op, const CallDetails& details) {
  end(end_ms, call(ms, group, op, details));
}

void FakeRank::step(double ms, double end_ms, double lr, std::string_view optimizer) {
  constexpr std::uint64_t kKey = 77;
  const std::uint64_t handle = next_id_++;
  const std::uint64_t name = trace_.text(optimizer);
  trace_.add(0, reader::testing::step_begin(at(ms), handle, name));
  recorder::StepGroupRecord group = reader::testing::step_group(at(ms), handle, kKey, 0, 1, lr);
  group.weight_decay = 0.01;
  group.beta1 = 0.9;
  group.beta2 = 0.999;
  group.eps = 1e-8;
  group.momentum = std::nan("");
  group.step = static_cast<double>(steps_++);
  group.params = 4;
  group.params_with_grad = 4;
  group.elements = 1000;
  trace_.add(0, group);
  trace_.add(0, reader::testing::step_end(at(end_ms), handle, name, kKey));
}

std::uint64_t FakeRank::open_range(double ms, std::string_view name) {
  const std::uint64_t handle = next_id_++;
  trace_.add(0, reader::testing::range_begin(at(ms), handle, trace_.text(name)));
  return handle;
}

void FakeRank::close_range(double ms, std::uint64_t handle, std::string_view name) {
  trace_.add(0, reader::testing::range_end(at(ms), handle, trace_.text(name)));
}

void FakeRank::range(double ms, double end_ms, std::string_view name) {
  close_range(end_ms, open_range(ms, name), name);
}

void FakeRank::operation(double ms, double end_ms, std::string_view name) {
  const std::uint64_t handle = next_id_++;
  const std::uint64_t text = trace_.text(name);
  recorder::RangeRecord begin = reader::testing::range_begin(at(ms), handle, text);
  recorder::RangeRecord end = reader::testing::range_end(at(end_ms), handle, text);
  begin.header.tag = end.header.tag = reader::Range::kOperatorScope;
  trace_.add(0, begin);
  trace_.add(0, end);
}

void FakeRank::alloc(double ms, std::uint64_t address, std::uint64_t bytes, Source source, int device) {
  trace_.add(0, reader::testing::alloc(at(ms), address, bytes, source, device));
}

void FakeRank::free(double ms, std::uint64_t address, Source source, int device) {
  trace_.add(0, reader::testing::release(at(ms), address, source, device));
}

void FakeRank::fail(double ms, std::uint64_t bytes, Source source, int device) {
  recorder::AllocRecord record = reader::testing::failed_alloc(at(ms), bytes, source);
  record.header.tag = recorder::alloc_tag(source, device);
  trace_.add(0, record);
}

void FakeRank::resident(double ms, std::int64_t bytes) {
  trace_.add(0, reader::testing::sample(at(ms), reader::Counter::kResidentBytes, bytes));
}

void FakeRank::memory_kills(double ms, std::int64_t count) {
  trace_.add(0, reader::testing::sample(at(ms), reader::Counter::kCgroupOomKills, count));
}

void FakeRank::garbage_collection(double end_ms, double took_ms) {
  const auto took = static_cast<std::int64_t>(took_ms * 1e6);
  trace_.add(0, reader::testing::sample(at(end_ms), reader::Counter::kGarbageCollectionNs, took));
}

void FakeRank::processor_wait(double ms, double waited_ms) {
  const auto waited = static_cast<std::int64_t>(waited_ms * 1e6);
  trace_.add(0, reader::testing::sample(at(ms), reader::Counter::kProcessorWaitNs, waited));
}

void FakeRank::batch(double ms, std::int64_t rows, std::int64_t length) {
  trace_.add(0, reader::testing::sample(at(ms), reader::Counter::kBatchRows, rows));
  trace_.add(0, reader::testing::sample(at(ms), reader::Counter::kBatchLength, length));
}

void FakeRank::stack(double ms, const FakeStack& stack) {
  const auto frames = [&](const std::vector<FrameDetails>& details) {
    std::vector<recorder::StackFrameDetails> out;
    out.reserve(details.size());
    for (const FrameDetails& frame : details)
      out.push_back({0, trace_.text(frame.function), trace_.text(frame.file), frame.line});
    return out;
  };
  const std::uint32_t tid = stack.tid != 0 ? stack.tid : 1000 + static_cast<std::uint32_t>(rank_);
  trace_.stack({at(ms), tid, stack.thread_name, stack.reason, stack.detail, frames(stack.python), frames(stack.native),
                stack.flags});
}

void FakeRank::exit(std::int32_t status, std::int32_t signal, std::string_view exception, std::string_view message) {
  trace_.finish({status, signal, std::string(exception), std::string(message)});
  EXPECT_EQ(trace_.error(), "");
}

void write_trace(const std::string& directory, std::int32_t rank, std::int32_t world) {
  FakeRank fake(directory, rank, world);
  fake.step(1, 2);
  fake.exit(0);
}

}  // namespace plumbline::checks::testing
