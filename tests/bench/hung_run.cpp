#include "tests/bench/hung_run.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "reader/parallel.hpp"
#include "recorder/trace_builder.hpp"

namespace plumbline::bench {
namespace {

using recorder::Dtype;
using recorder::Kind;
using recorder::Op;
using recorder::Outcome;
using recorder::ReduceOp;

constexpr std::uint64_t kPeriod = 1'000'000;  // one call a millisecond
constexpr int kRanksPerHost = 8;
constexpr std::uint64_t kCallsPerStep = 200;
constexpr std::array kLines = {40, 60, 80, 100, 110};  // of the script

enum class Axis { kTensor, kExpert, kData, kPipeline };

// What every rank does as its call number `index`.
struct Call {
  Axis axis = Axis::kTensor;
  Op op = Op::kAllReduce;
  ReduceOp reduce = ReduceOp::kNone;
  std::uint64_t count = 0;
  std::size_t line = 0;  // of kLines
};

Call call_at(std::uint64_t index) {
  const std::uint64_t place = index % 20;
  if (place < 10) return {Axis::kTensor, Op::kAllReduce, ReduceOp::kSum, std::uint64_t{4096} * (1 + place % 3), 0};
  if (place < 14) return {Axis::kExpert, Op::kAllToAllBase, ReduceOp::kNone, 8192, 1};
  if (place < 16) return {Axis::kPipeline, Op::kSend, ReduceOp::kNone, 4096, 2};
  if (place < 18) return {Axis::kData, Op::kReduceScatterBase, ReduceOp::kAvg, 1 << 20, 3};
  return {Axis::kData, Op::kAllGatherBase, ReduceOp::kNone, 1 << 20, 4};
}

// Rank = ((replica · pipeline) + stage) · tensor + shard.
struct Where {
  int shard = 0;
  int stage = 0;
  int replica = 0;
};

Where where(const HungRun& run, int rank) {
  return {rank % run.tensor, rank / run.tensor % run.pipeline, rank / run.tensor / run.pipeline};
}

int rank_at(const HungRun& run, const Where& at) {
  return (at.replica * run.pipeline + at.stage) * run.tensor + at.shard;
}

std::vector<int> members(const HungRun& run, int rank, Axis axis) {
  std::vector<int> ranks;
  const Where own = where(run, rank);
  Where at = own;
  switch (axis) {
    case Axis::kTensor:
      for (at.shard = 0; at.shard < run.tensor; ++at.shard) ranks.push_back(rank_at(run, at));
      break;
    case Axis::kPipeline:
      for (at.stage = 0; at.stage < run.pipeline; ++at.stage) ranks.push_back(rank_at(run, at));
      break;
    case Axis::kData:
      for (at.replica = 0; at.replica < run.data(); ++at.replica) ranks.push_back(rank_at(run, at));
      break;
    case Axis::kExpert: {
      const int first = own.replica / run.expert * run.expert;
      const int end = std::min(first + run.expert, run.data());
      for (at.replica = first; at.replica < end; ++at.replica) ranks.push_back(rank_at(run, at));
      break;
    }
  }
  return ranks;
}

// Stages pass on in pairs: 0 to 1, 2 to 3, … at one call, 1 to 2, 3 to 4, … at the next. No partner at the ends.
std::optional<int> partner_stage(const HungRun& run, int stage, std::uint64_t index) {
  const bool first_of_pair = (static_cast<std::uint64_t>(stage) + index) % 2 == 0;
  const int other = first_of_pair ? stage + 1 : stage - 1;
  if (other < 0 || other >= run.pipeline) return std::nullopt;
  return other;
}

// Ranks that must make call `index` for this rank to finish it.
std::vector<int> needed(const HungRun& run, int rank, std::uint64_t index) {
  const Call call = call_at(index);
  if (call.axis != Axis::kPipeline) return members(run, rank, call.axis);
  Where at = where(run, rank);
  const auto partner = partner_stage(run, at.stage, index);
  if (!partner) return {};
  at.stage = *partner;
  return {rank_at(run, at)};
}

// The last call that each rank makes, and does not finish; the guilty one does not make it.
std::vector<std::uint64_t> stops(const HungRun& run) {
  std::uint64_t stop = run.collectives * 9 / 10 / 20 * 20 + 5;  // a tensor-parallel call
  std::vector<std::uint64_t> at(static_cast<std::size_t>(run.ranks), run.collectives);
  at[static_cast<std::size_t>(run.guilty)] = stop;
  const auto makes = [&](int rank, std::uint64_t index) {
    const std::uint64_t own = at[static_cast<std::size_t>(rank)];
    return rank == run.guilty ? index < own : index <= own;
  };
  // Who waits for whom reaches everybody within a few periods of the calls.
  for (const std::uint64_t end = std::min(run.collectives, stop + 100); stop < end; ++stop) {
    for (int rank = 0; rank < run.ranks; ++rank) {
      std::uint64_t& own = at[static_cast<std::size_t>(rank)];
      if (own <= stop) continue;
      const std::vector<int> others = needed(run, rank, stop);
      if (!std::all_of(others.begin(), others.end(), [&](int other) { return makes(other, stop); })) own = stop;
    }
  }
  return at;
}

std::string text_of(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

std::uint64_t noise(std::uint64_t a, std::uint64_t b, std::uint64_t below) {
  std::uint64_t x = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xc2b2ae3d27d4eb4full;
  x ^= x >> 31;
  return x * 0xbf58476d1ce4e5b9ull % below;
}

class Writer {
 public:
  Writer(const std::string& directory, const HungRun& run, int rank)
      : run_(run), rank_(rank), place_(where(run, rank)), trace_(directory, options(run, rank)) {
    trace_.group("0", "default_pg", "nccl", "", rank, run.ranks);
    const auto add = [&](Axis axis, std::string_view name) {
      const std::vector<int> ranks = members(run, rank, axis);
      const auto local = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
      groups_[static_cast<std::size_t>(axis)] =
          trace_.group(std::string(name) + "_" + std::to_string(ranks[0]), name, "gloo", text_of(ranks),
                       static_cast<std::int32_t>(local), static_cast<std::int32_t>(ranks.size()));
    };
    add(Axis::kTensor, "tp");
    add(Axis::kExpert, "ep");
    add(Axis::kData, "dp");
    add(Axis::kPipeline, "pp");
    for (const int line : kLines) {
      sites_.push_back(trace_.text("/job/train.py:" + std::to_string(line) + " in step"));
    }
    optimizer_ = trace_.text("AdamW");
  }

  std::string write(std::uint64_t stop) {
    for (std::uint64_t index = 0; index < stop; ++index) {
      add_call(index, true);
      if (index % kCallsPerStep == kCallsPerStep - 1) add_step(index);
    }
    if (rank_ != run_.guilty && stop < run_.collectives) add_call(stop, false);
    // The memory samples of a process that stands still go on.
    trace_.add(
        0, recorder::SampleRecord{{time_of(run_.collectives) + 120'000'000'000, Kind::kSample, 1, 0, 0}, 1 << 30, 0});
    trace_.finish({-1, 15, {}, {}});
    return trace_.error();
  }

 private:
  static recorder::TraceBuilderOptions options(const HungRun& run, int rank) {
    const int host = rank / kRanksPerHost;
    recorder::TraceBuilderOptions options;
    options.host = "node" + std::to_string(host);
    options.boot_id = "boot-" + std::to_string(host);
    options.pid = static_cast<std::uint32_t>(1000 + rank % kRanksPerHost);
    options.rank = rank;
    options.local_rank = rank % kRanksPerHost;
    options.world_size = run.ranks;
    options.start_monotonic_ns = start_of(host);
    return options;
  }
  // Every host has its own clock.
  static std::uint64_t start_of(int host) { return 1'000'000'000 + static_cast<std::uint64_t>(host) * 7'000'000'000; }
  std::uint64_t time_of(std::uint64_t index) const { return start_of(rank_ / kRanksPerHost) + (index + 1) * kPeriod; }

  void add_call(std::uint64_t index, bool ends) {
    Call call = call_at(index);
    recorder::CollectiveRecord record{};
    record.peer = -1;
    if (call.axis == Axis::kPipeline) {
      const auto partner = partner_stage(run_, place_.stage, index);
      if (!partner) return;
      record.peer = *partner;
      if (*partner < place_.stage) call.op = Op::kRecv;
    }
    const std::uint64_t time = time_of(index) + noise(static_cast<std::uint64_t>(rank_), index, kPeriod / 4);
    record.header = {time, Kind::kCollective, recorder::slots_of<recorder::CollectiveRecord>(), 0,
                     recorder::collective_tag(call.op, call.reduce, Dtype::kBfloat16, recorder::Layer::kC10d)};
    record.id = index + 1;
    record.group = groups_[static_cast<std::size_t>(call.axis)];
    record.seq = call.axis == Axis::kPipeline ? messages_++ : seqs_[static_cast<std::size_t>(call.axis)]++;
    record.count_in = record.count_out = call.count;
    record.tensors_in = record.tensors_out = 1;
    record.buffer_in = record.buffer_out = 0x7f0000000000 + call.count * 64;
    record.site = sites_[call.line];
    trace_.add(0, record);
    mark(time + 20'000, Kind::kCollectiveStart, record.id, Outcome::kPending);
    const std::uint64_t end =
        time_of(index) + kPeriod / 2 + noise(record.id, static_cast<std::uint64_t>(rank_), kPeriod / 8);
    if (ends) mark(end, Kind::kCollectiveEnd, record.id, Outcome::kCompleted);
  }

  void mark(std::uint64_t time, Kind kind, std::uint64_t id, Outcome outcome) {
    trace_.add(1, recorder::CollectiveMarkRecord{{time, kind, recorder::slots_of<recorder::CollectiveMarkRecord>(), 0,
                                                  static_cast<std::uint32_t>(outcome)},
                                                 id,
                                                 0});
  }

  void add_step(std::uint64_t index) {
    recorder::StepRecord record{};
    record.header = {time_of(index) + kPeriod * 3 / 4, Kind::kStepBegin, recorder::slots_of<recorder::StepRecord>(), 0,
                     0};
    record.handle = index;
    record.name = optimizer_;
    record.key = 7;
    trace_.add(0, record);
    record.header.kind = Kind::kStepEnd;
    record.header.time_ns += kPeriod / 8;
    trace_.add(0, record);
  }

  const HungRun& run_;
  int rank_;
  Where place_;
  recorder::TraceBuilder trace_;
  std::uint64_t groups_[4] = {};
  std::uint64_t seqs_[4] = {};
  std::uint64_t messages_ = 0;
  std::vector<std::uint64_t> sites_;
  std::uint64_t optimizer_ = 0;
};

}  // namespace

std::string write_hung_run(const std::string& directory, const HungRun& run) {
  const std::vector<std::uint64_t> stop = stops(run);
  std::mutex lock;
  std::string error;
  reader::parallel_for(static_cast<std::size_t>(run.ranks), 0, [&](std::size_t rank) {
    Writer writer(directory, run, static_cast<int>(rank));
    const std::string own = writer.write(stop[rank]);
    const std::lock_guard<std::mutex> guard(lock);
    if (error.empty()) error = own;
  });
  return error;
}

std::vector<int> tensor_group_of(const HungRun& run, int rank) { return members(run, rank, Axis::kTensor); }

}  // namespace plumbline::bench
