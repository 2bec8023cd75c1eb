// A synthetic run that hangs: tensor-, pipeline-, data- and expert-parallel groups over any number of ranks, one of
// which stops before one of its tensor-parallel collectives. Every other rank is written up to where it must wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::bench {

struct HungRun {
  int ranks = 4096;
  int tensor = 8;                      // ranks of a tensor-parallel group, neighbours on one host
  int pipeline = 8;                    // stages
  int expert = 8;                      // data-parallel replicas that share experts
  std::uint64_t collectives = 20'000;  // a rank, had it gone on
  int guilty = 1234;

  int data() const { return ranks / tensor / pipeline; }
};

// Writes one trace a rank, on all cores. Gives the first error, or nothing.
std::string write_hung_run(const std::string& directory, const HungRun& run);

// Where the guilty rank is missing: the description of the group and its global ranks.
std::vector<int> tensor_group_of(const HungRun& run, int rank);

}  // namespace plumbline::bench
