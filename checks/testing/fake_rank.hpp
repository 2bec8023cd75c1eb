// A training process that never was: writes the trace that it would have left, event by event, in milliseconds since
// its start. For the tests of checks and tools.
//
//   FakeRank rank0(directory, 0, 2);
//   const auto world = rank0.group("0", "default_pg", "0,1");
//   const auto call = rank0.call(10, world, Op::kAllReduce, {.count = 1024});
//   rank0.end(12, call);
//   rank0.step(13, 14);
//   rank0.exit(0);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reader/testing/records.hpp"

namespace plumbline::checks::testing {

using reader::Dtype;
using reader::Layer;
using reader::Op;
using reader::Outcome;
using reader::ReduceOp;
using reader::Source;

struct CallDetails {
  std::uint64_t count = 1000;
  Dtype dtype = Dtype::kFloat32;
  ReduceOp reduce = ReduceOp::kSum;
  std::int32_t peer = -1;
  std::int32_t tag = 0;
  Layer layer = Layer::kC10d;
  std::uint64_t parent = 0;
  std::string_view site{};      // "PATH:LINE in FUNCTION"
  std::int64_t count_out = -1;  // -1: as count
  std::uint32_t splits = 0;     // hash of uneven split sizes
};

struct FrameDetails {
  std::string_view function;
  std::string_view file;
  std::uint32_t line = 0;
};

struct FakeStack {
  std::vector<FrameDetails> python{};  // innermost first
  std::vector<FrameDetails> native{};
  recorder::StackReason reason = recorder::StackReason::kStall;
  std::uint64_t detail = 0;
  std::uint32_t flags = recorder::kTrainingThread;
  std::string thread_name = "python";
  std::uint32_t tid = 0;  // 0: the training thread's
};

struct RankOptions {
  std::string host = "node1";
  std::int32_t attempt = 0;
  std::uint32_t pid = 0;  // 0: 1000 and the rank
  std::uint64_t start_monotonic_ns = 5'000'000'000;
  std::uint64_t start_realtime_ns = 1'700'000'000'000'000'000;
  std::string boot_id = "00000000-0000-0000-0000-000000000001";
};

class FakeRank {
 public:
  FakeRank(const std::string& directory, std::int32_t rank, std::int32_t world, const RankOptions& options = {});

  recorder::TraceBuilder& trace() { return trace_; }
  std::uint64_t at(double ms) const { return options_.start_monotonic_ns + static_cast<std::uint64_t>(ms * 1e6); }

  // `ranks` as "0,1": the group that this rank has the `local` place in.
  std::uint64_t group(std::string_view name, std::string_view description, std::string_view ranks,
                      std::int32_t local = -1, std::string_view backend = "gloo");
  // Returns the call's id; sequence numbers are counted by group, point-to-point calls apart.
  std::uint64_t call(double ms, std::uint64_t group, Op op, const CallDetails& details = {});
  void start(double ms, std::uint64_t id);
  void end(double ms, std::uint64_t id, Outcome outcome = Outcome::kCompleted);
  void returned(double ms, std::uint64_t id, std::int64_t code = 0);
  void wait(double ms, std::uint64_t id);
  // call() and end() in one.
  void whole_call(double ms, double end_ms, std::uint64_t group, Op op, const CallDetails& details = {});

  // An AdamW step over one param group.
  void step(double ms, double end_ms, double lr = 1e-3, std::string_view optimizer = "AdamW");
  std::uint64_t open_range(double ms, std::string_view name);
  void close_range(double ms, std::uint64_t handle, std::string_view name);
  void range(double ms, double end_ms, std::string_view name);
  // As a diagnosis run records it.
  void operation(double ms, double end_ms, std::string_view name);

  void alloc(double ms, std::uint64_t address, std::uint64_t bytes, Source source = Source::kCpu, int device = -1);
  void free(double ms, std::uint64_t address, Source source = Source::kCpu, int device = -1);
  void fail(double ms, std::uint64_t bytes, Source source = Source::kCpu, int device = -1);
  void resident(double ms, std::int64_t bytes);
  // So many processes of its memory group had been killed for memory by then.
  void memory_kills(double ms, std::int64_t count);
  void garbage_collection(double end_ms, double took_ms);
  // So long had its training thread waited for a processor by then.
  void processor_wait(double ms, double waited_ms);
  // Its embedding was given so many rows of so many tokens.
  void batch(double ms, std::int64_t rows, std::int64_t length);

  void stack(double ms, const FakeStack& stack);

  // Ends the trace in order. A rank without it was killed.
  void exit(std::int32_t status, std::int32_t signal = 0, std::string_view exception = {},
            std::string_view message = {});
  // Writes what there is and leaves the trace without an end.
  void killed() { trace_.flush(); }

 private:
  std::int32_t rank_;
  RankOptions options_;
  recorder::TraceBuilder trace_;
  std::uint64_t next_id_ = 1;
  std::uint64_t steps_ = 0;
  std::map<std::uint64_t, std::uint64_t> next_seq_;
  std::map<std::uint64_t, std::uint64_t> next_p2p_seq_;
};

// A rank that stepped once and ended in order: the trace beside captures.
void write_trace(const std::string& directory, std::int32_t rank = 0, std::int32_t world = 1);

}  // namespace plumbline::checks::testing
