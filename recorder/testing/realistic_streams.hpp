// Streams of events as training jobs make them, without a job: for measures of size and speed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "recorder/testing/records.hpp"

namespace plumbline::recorder::testing {

// A heap under a training loop: each step makes about the same requests in the same order, short-lived buffers are
// freed soon, activations late, and freed memory of a size is used again. Gaps between calls are log-normal.
class AllocatorStream {
 public:
  explicit AllocatorStream(std::uint64_t seed, double median_gap_ns = 20'000)
      : random_(seed), gap_(std::log(median_gap_ns), 1.0) {
    std::uniform_int_distribution<std::uint64_t> size(6, 20);
    for (std::uint64_t& request : program_) request = (std::uint64_t{1} << size(random_)) + 64 * size(random_);
  }

  AllocRecord next() {
    time_ns_ += static_cast<std::uint64_t>(gap_(random_));
    const bool release = !live_.empty() && (live_.size() >= kMostLive || random_() % 100 < 49);
    return release ? release_one() : request_one();
  }

 private:
  static constexpr std::size_t kMostLive = 400;

  AllocRecord request_one() {
    const std::uint64_t size = program_[at_++ % program_.size()] + (random_() % 50 == 0 ? 64 * (random_() % 8) : 0);
    std::vector<std::uint64_t>& free = free_[size];
    std::uint64_t address = end_;
    if (free.empty()) {
      end_ += (size + 127) / 64 * 64;
    } else {
      address = free.back();
      free.pop_back();
    }
    live_.push_back({address, size});
    return alloc_record(time_ns_, address, size);
  }

  AllocRecord release_one() {
    // Mostly the newest, sometimes one from further back.
    const std::size_t back =
        random_() % 4 == 0 ? random_() % live_.size() : random_() % std::min<std::size_t>(live_.size(), 3);
    const auto block = live_.end() - 1 - static_cast<std::ptrdiff_t>(back);
    const auto [address, size] = *block;
    live_.erase(block);
    free_[size].push_back(address);
    return free_record(time_ns_, address);
  }

  struct Block {
    std::uint64_t address, size;
  };
  std::mt19937_64 random_;
  std::lognormal_distribution<> gap_;
  std::array<std::uint64_t, 700> program_{};
  std::size_t at_ = 0;
  std::uint64_t time_ns_ = 1'000'000'000;
  std::uint64_t end_ = 0x7f1200000000;
  std::vector<Block> live_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_;
};

// Collectives of a step of data and tensor parallelism: two groups, a handful of sizes, buffers that the heap uses
// again.
class CollectiveStream {
 public:
  explicit CollectiveStream(std::uint64_t seed) : random_(seed), gap_(std::log(200'000.0), 1.0) {}

  CollectiveRecord next() {
    time_ns_ += static_cast<std::uint64_t>(gap_(random_));
    const std::uint64_t place = id_ % 24;
    const bool data = place % 3 == 0;
    CollectiveRecord record = collective_record(time_ns_, ++id_, data ? 0x9123456789abcdef : 0x1fedcba987654321);
    record.header.tag = collective_tag(data ? Op::kAllReduce : Op::kAllGatherBase,
                                       data ? ReduceOp::kSum : ReduceOp::kNone, Dtype::kBfloat16, Layer::kC10d);
    record.seq = sequence_[data]++;
    record.count_in = 1000 * (place + 1);
    record.count_out = record.count_in * (data ? 1 : 8);
    record.buffer_in = 0x7f1200000000 + (place * 131 + random_() % 3) * 4096;
    record.buffer_out = data ? record.buffer_in : record.buffer_in + (1 << 20);
    record.tensors_in = record.tensors_out = 1;
    return record;
  }

 private:
  std::mt19937_64 random_;
  std::lognormal_distribution<> gap_;
  std::uint64_t time_ns_ = 1'000'000'000;
  std::uint64_t id_ = 0;
  std::uint64_t sequence_[2] = {};
};

}  // namespace plumbline::recorder::testing
