#include "tests/nccl/trace_words.hpp"

#include <cinttypes>
#include <cstdio>
#include <map>
#include <unordered_map>

namespace plumbline::nccl_job {
namespace {

using reader::Dtype;
using reader::Kind;
using reader::Op;
using reader::Outcome;
using reader::ReduceOp;
using reader::Source;

template <class... Values>
std::string line(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

const char* op_word(Op op) {
  static const std::map<Op, const char*> words = {
      {Op::kAllReduce, "all_reduce"}, {Op::kReduce, "reduce"}, {Op::kBroadcast, "broadcast"},
      {Op::kAllGather, "all_gather"}, {Op::kGather, "gather"}, {Op::kReduceScatter, "reduce_scatter"},
      {Op::kAllToAll, "all_to_all"},  {Op::kSend, "send"},     {Op::kScatter, "scatter"},
      {Op::kGroupCall, "group"},      {Op::kRecv, "recv"}};
  const auto found = words.find(op);
  return found != words.end() ? found->second : "?";
}

const char* reduce_word(ReduceOp op) {
  static const std::map<ReduceOp, const char*> words = {{ReduceOp::kSum, "sum"}, {ReduceOp::kProd, "prod"},
                                                        {ReduceOp::kMax, "max"}, {ReduceOp::kMin, "min"},
                                                        {ReduceOp::kAvg, "avg"}, {ReduceOp::kPremulSum, "premul_sum"}};
  const auto found = words.find(op);
  return found != words.end() ? found->second : "-";
}

// NCCL's number of the type.
int datatype_number(Dtype dtype) {
  static const std::map<Dtype, int> numbers = {
      {Dtype::kInt8, 0},    {Dtype::kUint8, 1},    {Dtype::kInt32, 2},       {Dtype::kUint32, 3},
      {Dtype::kInt64, 4},   {Dtype::kUint64, 5},   {Dtype::kFloat16, 6},     {Dtype::kFloat32, 7},
      {Dtype::kFloat64, 8}, {Dtype::kBfloat16, 9}, {Dtype::kFloat8E4m3, 10}, {Dtype::kFloat8E5m2, 11}};
  const auto found = numbers.find(dtype);
  return found != numbers.end() ? found->second : -1;
}

const char* outcome_word(std::uint64_t outcome) {
  constexpr const char* kWords[] = {"pending", "completed", "failed", "raised", "captured"};
  return outcome < 5 ? kWords[outcome] : "?";
}

const char* comm_word(std::uint64_t event) {
  constexpr const char* kWords[] = {"init", "split", "finalize", "destroy", "abort", "revoke", "shrink"};
  return event < 7 ? kWords[event] : "?";
}

const char* source_word(Source source) {
  static const std::map<Source, const char*> words = {{Source::kCudaMalloc, "malloc"},
                                                      {Source::kCudaAsync, "async"},
                                                      {Source::kCudaHost, "host"},
                                                      {Source::kCudaManaged, "managed"}};
  const auto found = words.find(source);
  return found != words.end() ? found->second : "?";
}

struct Return {
  std::uint64_t outcome = 99;  // nothing came back
  std::int64_t code = 0;
};

class Gatherer {
 public:
  explicit Gatherer(const reader::Trace& trace) {
    // Marks follow their calls, so they are read first.
    trace.read({.kinds = reader::kMarks}, [&](const reader::FrameView& frame) {
      for (const auto& batch : frame.marks) take(batch);
      return true;
    });
    trace.read({}, [&](const reader::FrameView& frame) {
      for (const auto& batch : frame.collectives) take(batch);
      for (const auto& batch : frame.comms) take(batch);
      for (const auto& batch : frame.allocations) take(batch);
      for (const auto& batch : frame.samples) take(batch);
      return true;
    });
  }

  TraceWords words;

 private:
  void take(const reader::MarkBatch& batch) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      if (static_cast<Kind>(batch.kind[row]) != Kind::kCollectiveReturn) continue;
      returns_[batch.id[row]] = {batch.outcome[row], static_cast<std::int64_t>(batch.code[row])};
    }
  }

  void take(const reader::CollectiveBatch& batch) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      places_[batch.id[row]] = words.collectives.size() + 1;
      const Return& back = returns_[batch.id[row]];
      const bool group_call = reader::op_of(batch.tag[row]) == Op::kGroupCall;
      words.collectives.push_back(
          line("collective %s %s %d %" PRIu64 " %" PRIu64 " %d %p %p %p %s %zu %s %d",
               op_word(reader::op_of(batch.tag[row])), reduce_word(reader::reduce_op_of(batch.tag[row])),
               datatype_number(reader::dtype_of(batch.tag[row])), batch.count_in[row], batch.count_out[row],
               static_cast<int>(batch.peer[row]), pointer(batch.buffer_in[row]), pointer(batch.buffer_out[row]),
               pointer(batch.stream[row]), group_call ? "-" : "*", places_[batch.parent[row]],
               outcome_word(back.outcome), static_cast<int>(back.code)));
      words.groups.push_back(batch.group[row]);
      words.sequence.push_back(batch.seq[row]);
    }
  }

  void take(const reader::CommBatch& batch) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      words.comms.push_back(line("comm %s %p %d %d %d", comm_word(batch.event[row]), pointer(batch.comm[row]),
                                 static_cast<int>(batch.rank[row]), static_cast<int>(batch.size[row]),
                                 static_cast<int>(batch.code[row])));
    }
  }

  void take(const reader::AllocationBatch& batch) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      const auto tag = static_cast<std::uint32_t>(batch.tag[row]);
      const Source source = recorder::source_of(tag);
      const int device = recorder::device_of(tag);
      const auto kind = static_cast<Kind>(batch.kind[row]);
      if (source == Source::kNcclInternal) {
        ++(kind == Kind::kFree ? words.nccl_frees : words.nccl_allocations);
      } else if (kind == Kind::kAlloc) {
        words.allocations.push_back(
            line("alloc %s %d %p %" PRIu64, source_word(source), device, pointer(batch.address[row]), batch.size[row]));
      } else if (kind == Kind::kFree) {
        words.allocations.push_back(line("free %s %d %p", source_word(source), device, pointer(batch.address[row])));
      } else {
        words.allocations.push_back(line("failed %s %d %" PRIu64, source_word(source), device, batch.size[row]));
      }
    }
  }

  void take(const reader::SampleBatch& batch) {
    for (std::size_t row = 0; row < batch.count; ++row) {
      if (static_cast<reader::Counter>(batch.counter[row]) != reader::Counter::kGraphLaunches) continue;
      words.graph_launches = static_cast<std::int64_t>(batch.value[row]);
    }
  }

  std::unordered_map<std::uint64_t, Return> returns_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // of a collective's line, by its id
};

}  // namespace

TraceWords words_of(const reader::Trace& trace) { return Gatherer(trace).words; }

}  // namespace plumbline::nccl_job
