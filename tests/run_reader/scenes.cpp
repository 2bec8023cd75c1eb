#include "tests/run_reader/scenes.hpp"

#include <array>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::tests {
namespace {

using checks::testing::Dtype;
using checks::testing::FakeRank;
using checks::testing::Op;
using checks::testing::Outcome;
using checks::testing::ReduceOp;
using checks::testing::Source;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void introduce(FakeRank& rank) {
  rank.trace().fact("process.command", "python train.py --steps 3");
  rank.trace().fact("torch.version", "2.11.0");
  rank.trace().fact("python.version", "3.12.1");
}

// Step `number` of an ordinary data-parallel loop, 100 ms long.
void train_step(FakeRank& rank, std::uint64_t world, int number) {
  const double ms = 1000 + 100 * number;
  const std::uint64_t address = 0x10000 + 0x100000 * static_cast<std::uint64_t>(number);
  rank.alloc(ms, address, 2 * kMiB);
  rank.range(ms + 1, ms + 30, "DistributedDataParallel.forward");
  const auto call = rank.call(ms + 60, world, Op::kAllReduce, {.count = 82624});
  rank.start(ms + 61, call);
  rank.end(ms + 70, call);
  rank.step(ms + 80, ms + 90, 1e-3);
  rank.free(ms + 95, address);
  rank.resident(ms + 96, 600 * static_cast<std::int64_t>(kMiB));
}

void write_healthy(const std::string& directory) {
  for (const int number : {0, 1}) {
    FakeRank rank(directory, number, 2);
    introduce(rank);
    const auto world = rank.group("0", "default_pg", "0,1");
    rank.whole_call(500, 520, world, Op::kBroadcast,
                    {.count = 40, .dtype = Dtype::kInt64, .reduce = ReduceOp::kNone, .peer = 0});
    for (int step = 0; step < 3; ++step) train_step(rank, world, step);
    rank.exit(0);
  }
}

// Rank 1 leaves the loop after step 1 for an evaluation, and ends; rank 0 waits until the launcher ends it.
void write_left_early(const std::string& directory) {
  FakeRank rank0(directory, 0, 2);
  introduce(rank0);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  for (int step = 0; step < 2; ++step) train_step(rank0, world0, step);
  rank0.open_range(1201, "DistributedDataParallel.forward");
  rank0.wait(1261, rank0.call(1260, world0, Op::kAllReduce, {.count = 82624}));
  rank0.resident(31260, 600 * static_cast<std::int64_t>(kMiB));
  rank0.exit(-1, 15);
  FakeRank rank1(directory, 1, 2);
  introduce(rank1);
  const auto world1 = rank1.group("0", "default_pg", "0,1");
  for (int step = 0; step < 2; ++step) train_step(rank1, world1, step);
  rank1.range(1200, 1350, "evaluate");
  rank1.exit(0);
}

// Rank 1 calls another collective than rank 0, and gloo aborts it.
void write_mismatch(const std::string& directory) {
  FakeRank rank0(directory, 0, 2);
  introduce(rank0);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  train_step(rank0, world0, 0);
  rank0.end(1300, rank0.call(1160, world0, Op::kAllReduce, {.count = 4096}), Outcome::kFailed);
  rank0.exit(1, 0, "RuntimeError", "Connection reset by peer");
  FakeRank rank1(directory, 1, 2);
  introduce(rank1);
  const auto world1 = rank1.group("0", "default_pg", "0,1");
  train_step(rank1, world1, 0);
  rank1.call(1160, world1, Op::kAllGather, {.count = 7, .dtype = Dtype::kInt64, .reduce = ReduceOp::kNone});
  rank1.exit(-1, 6);
}

void write_out_of_memory(const std::string& directory) {
  FakeRank rank(directory, 0, 1);
  introduce(rank);
  const auto world = rank.group("0", "default_pg", "0");
  train_step(rank, world, 0);
  rank.alloc(1100, 0x900000, 60 * 1024 * kMiB, Source::kCachingBlock, 0);
  rank.fail(1105, 20 * 1024 * kMiB, Source::kCachingBlock, 0);
  rank.exit(1, 0, "OutOfMemoryError", "CUDA out of memory. Tried to allocate 20.00 GiB");
}

// Rows become longer from step to step, until the logits of the longest do not fit.
void write_growing_rows(const std::string& directory) {
  FakeRank rank(directory, 0, 1);
  introduce(rank);
  constexpr std::uint64_t kVocabulary = 151'936;
  rank.trace().fact("model.vocabulary", std::to_string(kVocabulary));
  const auto world = rank.group("0", "default_pg", "0");
  for (int step = 0; step < 6; ++step) {
    const std::int64_t length = 1000 + 700 * step;
    const double at = 1000 + 100 * step;
    rank.batch(at, 4, length);
    const auto logits = static_cast<std::uint64_t>(4 * length) * kVocabulary * 2;
    rank.alloc(at + 20, 0x900000, logits, Source::kCachingBlock, 0);
    rank.free(at + 40, 0x900000, Source::kCachingBlock, 0);
    rank.whole_call(at + 50, at + 55, world, Op::kAllReduce);
    rank.step(at + 60, at + 70);
  }
  rank.batch(1600, 4, 9001);
  rank.fail(1620, 4 * 9001 * kVocabulary * 2, Source::kCachingBlock, 0);
  rank.exit(1, 0, "OutOfMemoryError", "CUDA out of memory. Tried to allocate 10.19 GiB");
}

// The adapter is missing, a hook is off, events were dropped, and rank 2 left no trace.
void write_uncovered(const std::string& directory) {
  for (const int number : {0, 1}) {
    FakeRank rank(directory, number, 3);
    introduce(rank);
    rank.trace().fact("adapter.state", "missing");
    rank.trace().fact("adapter.reason", "none is built for torch 2.11.0");
    rank.trace().fact("adapter.remedy", "plumbline build-adapter");
    recorder::HookCountRow nccl;
    nccl.name = "NCCL C API";
    nccl.detail = "NCCL is linked statically";
    rank.trace().hooks(rank.at(1000), {nccl});
    if (number == 1) rank.trace().drop(recorder::Kind::kAlloc, 12);
    const auto world = rank.group("0", "default_pg", "0,1,2");
    rank.whole_call(500, 520, world, Op::kBarrier);
    rank.exit(0);
  }
}

// Attempt 0 dies on rank 1; attempt 1 runs to its end.
void write_restart(const std::string& directory) {
  for (const int number : {0, 1}) {
    FakeRank first(directory, number, 2);
    introduce(first);
    const auto world = first.group("0", "default_pg", "0,1");
    train_step(first, world, 0);
    const auto call = first.call(1160, world, Op::kAllReduce);
    if (number == 0) first.end(1200, call, Outcome::kFailed);
    first.exit(number == 0 ? 1 : -1, number == 0 ? 0 : 11);
    FakeRank second(directory, number, 2,
                    {.attempt = 1,
                     .pid = 2000U + static_cast<unsigned>(number),
                     .start_monotonic_ns = 15'000'000'000,
                     .start_realtime_ns = 1'700'000'010'000'000'000});
    introduce(second);
    const auto again = second.group("0", "default_pg", "0,1");
    for (int step = 0; step < 3; ++step) train_step(second, again, step);
    second.exit(0);
  }
}

// Two stages that both receive first: one micro-batch too few.
void write_pipeline_circle(const std::string& directory) {
  for (const int number : {0, 1}) {
    FakeRank rank(directory, number, 2);
    introduce(rank);
    const auto world = rank.group("0", "default_pg", "0,1");
    const auto pipeline = rank.group("3", "pipeline", "0,1");
    train_step(rank, world, 0);
    rank.wait(1161, rank.call(1160, pipeline, Op::kRecv,
                              {.count = 8192,
                               .reduce = ReduceOp::kNone,
                               .peer = 1 - number,
                               .site = "/home/me/jobs/pipeline.py:88 in schedule"}));
    rank.resident(61160, 600 * static_cast<std::int64_t>(kMiB));
    rank.exit(-1, 15);
  }
}

// A maximum on rank 1 where the others add: nothing stops, and the result is wrong.
void write_silent_mismatch(const std::string& directory) {
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory, number, 3);
    introduce(rank);
    const auto world = rank.group("0", "default_pg", "0,1,2");
    train_step(rank, world, 0);
    rank.whole_call(1110, 1120, world, Op::kAllReduce,
                    {.count = 1,
                     .reduce = number == 1 ? ReduceOp::kMax : ReduceOp::kSum,
                     .site = "/home/me/jobs/train.py:57 in log_loss"});
    train_step(rank, world, 2);
    rank.exit(0);
  }
}

// Rank 2 waits for a batch; its data-parallel peer waits for it, and the tensor-parallel peers of that one for both.
void write_stuck_in_loader(const std::string& directory) {
  for (const int number : {0, 1, 2, 3}) {
    FakeRank rank(directory, number, 4);
    introduce(rank);
    rank.group("0", "default_pg", "0,1,2,3");
    const bool low = number < 2;
    const auto tensor = rank.group(low ? "1" : "2", "tensor", low ? "0,1" : "2,3", number % 2);
    const auto data = rank.group(number % 2 == 0 ? "3" : "4", "data", number % 2 == 0 ? "0,2" : "1,3", number / 2);
    rank.whole_call(1000, 1010, data, Op::kAllReduce, {.count = 4096});
    rank.step(1020, 1030);
    if (number == 2) {
      rank.open_range(1040, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
      rank.stack(62000,
                 {.python = {{"wait", "/usr/lib/python3.12/selectors.py", 415},
                             {"get", "/usr/lib/python3.12/queue.py", 180},
                             {"__next__", "/opt/lib/python3.12/site-packages/torch/utils/data/dataloader.py", 711},
                             {"train", "/home/me/jobs/train.py", 31}}});
    } else if (number == 3) {
      rank.wait(1101, rank.call(1100, tensor, Op::kAllReduce,
                                {.count = 2048, .site = "/home/me/jobs/layers.py:19 in forward"}));
    } else {
      rank.wait(1201, rank.call(1200, data, Op::kAllReduce,
                                {.count = 4096, .site = "/home/me/jobs/train.py:40 in backward"}));
    }
    rank.resident(63000, 600 * static_cast<std::int64_t>(kMiB));
    rank.exit(-1, 15);
  }
}

constexpr std::array kScenes = {
    Scene{"healthy", write_healthy},
    Scene{"left_early", write_left_early},
    Scene{"mismatch", write_mismatch},
    Scene{"out_of_memory", write_out_of_memory},
    Scene{"growing_rows", write_growing_rows},
    Scene{"uncovered", write_uncovered},
    Scene{"restart", write_restart},
    Scene{"pipeline_circle", write_pipeline_circle},
    Scene{"silent_mismatch", write_silent_mismatch},
    Scene{"stuck_in_loader", write_stuck_in_loader},
};

}  // namespace

std::span<const Scene> scenes() { return kScenes; }

}  // namespace plumbline::tests
