// Training jobs that never were, step by step: every rank computes, then all meet in one all_reduce, which the last to
// come lets go. Compute times scatter a little, the same in every run of a test.
//
//   FakeTraining job{.ranks = 2, .steps = 40};
//   job.delay = [](int rank, int step) { return rank == 1 ? 60.0 : 0.0; };
//   job.write(directory.path());
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks::testing {

struct FakeTraining {
  int ranks = 2;
  int steps = 40;
  double compute = 100;  // milliseconds
  double scatter = 1;    // up to that much more
  bool marked = true;    // by optimizer steps
  std::function<std::uint64_t(int step)> tensor_bytes = [](int) { return std::uint64_t{4096}; };
  bool records_work = true;  // makes and frees a tensor every few milliseconds while it computes
  std::function<double(int rank, int step)> delay = [](int, int) { return 0.0; };
  std::function<std::uint64_t(int rank, int step)> elements = [](int, int) {
    return std::uint64_t{0};
  };  // 0: no gather
  // What its training thread waits for a processor in the second that begins then, in milliseconds; 0: not recorded.
  std::function<double(int rank, double second)> processor_wait = [](int, double) { return 0.0; };
  std::function<RankOptions(int rank)> options = [](int) { return RankOptions{}; };
  // The delay itself, as the rank would record it.
  std::function<void(FakeRank&, int rank, double from, double to)> during = [](FakeRank&, int, double, double) {};

  void write(const std::string& directory) const;
};

}  // namespace plumbline::checks::testing
