// The waits of a run by step: how long each rank kept the others, and the work that each had, where a collective shows
// it by carrying different amounts on different ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "checks/straggler_lateness.hpp"

namespace plumbline::checks {

// A wait that can be looked up again.
struct LateCall {
  std::size_t trace = 0;
  std::size_t group = 0;
  reader::Op op = reader::Op::kUnknown;
  std::uint64_t seq = 0;
  std::uint64_t site = 0;  // text of that trace
  std::uint64_t id = 0;
  std::uint64_t frame_offset = 0;
  std::int64_t called = 0;      // on the run's clock
  std::int64_t free_since = 0;  // -1: not known
  std::int64_t lost = 0;
};

// What one step of the run lost.
struct LateStep {
  std::int64_t step = 0;
  std::size_t late = 0;       // trace of the rank that the others waited for longest
  std::int64_t lost = 0;      // by that rank
  std::int64_t all_lost = 0;  // by all
  // The rank that had most to do, where the amounts differ: what it had beyond the mean of the others, as a share of
  // that (0: the same on all, or not known), and what the others lost by it.
  double excess = 0;
  std::size_t busiest = 0;
  std::int64_t lost_by_busiest = 0;
  LateCall worst;  // its longest wait
};

struct RankLoss {
  std::int64_t lost = 0;
  std::int64_t steps_late = 0;  // in which it took more than the least that counts
};

class StepBook {
 public:
  // `least`: nanoseconds by step time below which a loss does not count.
  StepBook(std::size_t traces, std::int64_t first, std::int64_t last, std::int64_t least);

  void add(const Lateness& lateness);
  void finish();

  const std::vector<LateStep>& steps() const { return steps_; }  // in order, one for each step with collectives
  const std::vector<RankLoss>& ranks() const { return ranks_; }  // by trace
  // Where a rank was late most, over all steps.
  struct PlaceLoss {
    std::size_t group = 0;
    reader::Op op = reader::Op::kUnknown;
    std::uint64_t site = 0;
    std::int64_t lost = 0;
    std::int64_t calls = 0;
  };
  std::vector<PlaceLoss> places_of(std::size_t trace) const;  // worst first

 private:
  struct Open {
    std::vector<std::int64_t> lost;  // by trace
    std::vector<double> work;
    std::vector<LateCall> worst;
    bool uneven = false;
  };
  void close(std::int64_t step, const Open& open);

  std::size_t traces_;
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t least_;
  std::map<std::int64_t, Open> open_;
  std::vector<LateStep> steps_;
  std::vector<RankLoss> ranks_;
  std::map<std::tuple<std::size_t, std::size_t, reader::Op, std::uint64_t>, PlaceLoss> places_;
};

}  // namespace plumbline::checks
