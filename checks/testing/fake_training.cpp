#include "checks/testing/fake_training.hpp"

#include <algorithm>
#include <deque>

namespace plumbline::checks::testing {
namespace {

constexpr std::string_view kSite = "/home/me/jobs/train.py:41 in main";

class Scatter {
 public:
  // From 0 to 1.
  double next() {
    value_ = value_ * 1664525 + 1013904223;
    return static_cast<double>(value_ >> 8) / static_cast<double>(1U << 24);
  }

 private:
  std::uint32_t value_ = 2463534242;
};

void compute(FakeRank& rank, double from, double to, std::uint64_t bytes) {
  constexpr double kPace = 5;
  std::uint64_t address = 0x1000;
  for (double at = from; bytes > 0 && at + 1 < to; at += kPace, address += 0x1000) {
    rank.alloc(at, address, bytes);
    rank.free(at + 1, address);
  }
}

}  // namespace

void FakeTraining::write(const std::string& directory) const {
  std::string members;
  for (int rank = 0; rank < ranks; ++rank) members += (rank == 0 ? "" : ",") + std::to_string(rank);
  std::deque<FakeRank> traces;
  std::vector<std::uint64_t> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    traces.emplace_back(directory, rank, ranks, options(rank));
    groups.push_back(traces.back().group("0", "default_pg", members));
  }
  Scatter random;
  double now = 10;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> arrivals;
    for (int rank = 0; rank < ranks; ++rank) {
      const double late = delay(rank, step);
      const double computed = now + compute * 1.0 + scatter * random.next();
      FakeRank& trace = traces[static_cast<std::size_t>(rank)];
      plumbline::checks::testing::compute(trace, now, computed, records_work ? tensor_bytes(step) : 0);
      if (late > 0) during(trace, rank, computed, computed + late);
      arrivals.push_back(computed + late);
    }
    const double release = *std::max_element(arrivals.begin(), arrivals.end()) + 1;
    for (int rank = 0; rank < ranks; ++rank) {
      FakeRank& trace = traces[static_cast<std::size_t>(rank)];
      const auto place = static_cast<std::size_t>(rank);
      trace.whole_call(arrivals[place], release, groups[place], Op::kAllReduce, {.site = kSite});
      if (elements(rank, step) > 0)
        trace.whole_call(release + 0.5, release + 1, groups[place], Op::kAllGather, {.count = elements(rank, step)});
      if (marked) trace.step(release + 2, release + 3);
    }
    now = release + 4;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    FakeRank& trace = traces[static_cast<std::size_t>(rank)];
    double waited = 0;
    for (double at = 0; processor_wait(rank, at / 1000) > 0 && at < now; at += 1000) {
      trace.processor_wait(at, waited);
      waited += processor_wait(rank, at / 1000);
    }
    trace.exit(0);
  }
}

}  // namespace plumbline::checks::testing
