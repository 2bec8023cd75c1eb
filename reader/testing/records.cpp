#include "reader/testing/records.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "reader/merge.hpp"
#include "reader/names.hpp"

namespace plumbline::reader::testing {

using recorder::slots_of;

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-reader-XXXXXX").string();
  path_ = mkdtemp(name.data()) != nullptr ? name : std::string();
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_file(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

Trace open_trace(const std::string& path, const std::string& ring) {
  Result<Trace> trace = Trace::open(path, ring);
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  return std::move(*trace);
}

Run open_run(const std::string& path) {
  Result<Run> run = Run::open(path);
  EXPECT_TRUE(run.ok()) << run.status().message();
  return std::move(*run);
}

recorder::AllocRecord alloc(std::uint64_t time_ns, std::uint64_t address, std::uint64_t size, Source source,
                            int device) {
  return {{time_ns, Kind::kAlloc, 1, 0, recorder::alloc_tag(source, device)}, address, size};
}

recorder::AllocRecord release(std::uint64_t time_ns, std::uint64_t address, Source source, int device) {
  return {{time_ns, Kind::kFree, 1, 0, recorder::alloc_tag(source, device)}, address, 0};
}

recorder::AllocRecord failed_alloc(std::uint64_t time_ns, std::uint64_t size, Source source) {
  return {{time_ns, Kind::kAllocFailed, 1, 0, recorder::alloc_tag(source, -1)}, 0, size};
}

recorder::CollectiveRecord collective(const Call& call) {
  recorder::CollectiveRecord record{};
  record.header = {call.time_ns, Kind::kCollective, slots_of<recorder::CollectiveRecord>(), 0,
                   recorder::collective_tag(call.op, ReduceOp::kSum, Dtype::kFloat32, call.layer)};
  record.id = call.id;
  record.group = call.group;
  record.seq = call.seq;
  record.count_in = 1000;
  record.count_out = 1000;
  record.peer = call.peer;
  record.tensor_tag = call.tensor_tag;
  record.tensors_in = 1;
  record.tensors_out = 1;
  return record;
}

recorder::CollectiveMarkRecord mark(std::uint64_t time_ns, Kind kind, std::uint64_t id, Outcome outcome,
                                    std::int64_t code) {
  return {
      {time_ns, kind, slots_of<recorder::CollectiveMarkRecord>(), 0, static_cast<std::uint32_t>(outcome)}, id, code};
}

recorder::RangeRecord range_begin(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name, std::uint8_t depth) {
  return {{time_ns, Kind::kRangeBegin, slots_of<recorder::RangeRecord>(), depth, 7}, name, handle};
}

recorder::RangeRecord range_end(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name, std::uint8_t depth) {
  return {{time_ns, Kind::kRangeEnd, slots_of<recorder::RangeRecord>(), depth, 7}, name, handle};
}

recorder::StepRecord step_begin(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name, std::uint8_t depth) {
  return {{time_ns, Kind::kStepBegin, slots_of<recorder::StepRecord>(), depth, 0}, handle, name, 0, 0};
}

recorder::StepRecord step_end(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t name, std::uint64_t key,
                              std::uint8_t depth, bool raised) {
  return {{time_ns, Kind::kStepEnd, slots_of<recorder::StepRecord>(), depth, raised ? 1u : 0u}, handle, name, 0, key};
}

recorder::StepGroupRecord step_group(std::uint64_t time_ns, std::uint64_t handle, std::uint64_t key,
                                     std::uint32_t index, std::uint32_t groups, double lr) {
  recorder::StepGroupRecord record{};
  record.header = {time_ns, Kind::kStepGroup, slots_of<recorder::StepGroupRecord>(), 0, index | groups << 16};
  record.handle = handle;
  record.optimizer = 0xabc;
  record.key = key;
  record.lr = lr;
  record.weight_decay = 0.01;
  record.momentum = std::numeric_limits<double>::quiet_NaN();
  record.params = 4;
  record.params_with_grad = 3;
  record.elements = 1234;
  return record;
}

recorder::SampleRecord sample(std::uint64_t time_ns, Counter counter, std::int64_t value) {
  return {
      {time_ns, Kind::kSample, slots_of<recorder::SampleRecord>(), 0, static_cast<std::uint32_t>(counter)}, value, 0};
}

std::string write_small_trace(const std::string& directory, const TraceBuilderOptions& options, bool finish) {
  TraceBuilder trace(directory, options);
  EXPECT_EQ(trace.error(), "");
  const std::uint64_t world = trace.group("0", "default_pg", "gloo", "", options.rank, std::max(options.world_size, 1));
  const std::uint64_t adamw = trace.text("AdamW");
  const std::uint64_t forward = trace.text("DistributedDataParallel.forward");
  trace.fact("python", "3.11.2");
  trace.thread(0, options.pid, "python");
  trace.thread(1, options.pid + 1, "gloo");
  std::uint64_t id = 0;
  for (std::uint64_t step = 0; step < 2; ++step) {
    const std::uint64_t t = options.start_monotonic_ns + (step + 1) * 1'000'000;
    const std::uint64_t range = ++id;
    trace.add(0, range_begin(t, range, forward));
    trace.add(0, alloc(t + 10, 0x7f0000001000 + step * 0x100, 512));
    trace.add(0, range_end(t + 100, range, forward));
    const std::uint64_t call = ++id;
    trace.add(0, collective({.time_ns = t + 200, .id = call, .group = world, .seq = step}));
    trace.add(1, mark(t + 210, Kind::kCollectiveStart, call));
    trace.add(1, end_of(t + 290, call));
    const std::uint64_t handle = ++id;
    trace.add(0, step_begin(t + 300, handle, adamw));
    trace.add(0, step_group(t + 310, handle, 77, 0, 1, 1e-3));
    trace.add(0, step_end(t + 400, handle, adamw, 77));
    trace.add(0, release(t + 410, 0x7f0000001000 + step * 0x100));
    trace.add(0, sample(t + 420, Counter::kResidentBytes, 1 << 20));
    trace.flush();
  }
  if (finish) trace.finish({.status = 0, .signal = 0, .exception_class = {}, .exception_message = {}});
  EXPECT_EQ(trace.error(), "");
  return trace.path();
}

std::vector<std::string> rows_of(const Trace& trace, const Query& query) {
  std::vector<std::string> rows;
  trace.read(query, [&](const FrameView& frame) {
    for_each_row(frame, [&](const Row& row) {
      Kind kind = Kind::kNone;
      switch (row.type) {
        case kAllocations:
          kind = static_cast<Kind>(frame.allocations[row.batch].kind[row.row]);
          break;
        case kMarks:
          kind = static_cast<Kind>(frame.marks[row.batch].kind[row.row]);
          break;
        case kRanges:
          kind = static_cast<Kind>(frame.ranges[row.batch].kind[row.row]);
          break;
        case kSteps:
          kind = static_cast<Kind>(frame.steps[row.batch].kind[row.row]);
          break;
        case kCollectives:
          kind = Kind::kCollective;
          break;
        case kStepGroups:
          kind = Kind::kStepGroup;
          break;
        case kSamples:
          kind = Kind::kSample;
          break;
        case kDeviceWorks:
          kind = Kind::kDeviceWork;
          break;
        default:
          kind = Kind::kComm;
          break;
      }
      rows.push_back(std::string(name_of(kind)) + "@" + std::to_string(row.time_ns));
      return true;
    });
    return true;
  });
  return rows;
}

}  // namespace plumbline::reader::testing
