// How much each rank reduced in each step: elements that went through all_reduce and reduce_scatter, so that a missing
// or extra one shows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

class ReducedElements {
 public:
  explicit ReducedElements(const Subject& subject) : subject_(subject) {}

  // One sentence on the step, next to the rank's other steps; empty where the traces say nothing.
  std::string sentence(int rank, std::int64_t step);
  // By calls between two times of the rank's own clock.
  std::uint64_t between(int rank, std::uint64_t from_ns, std::uint64_t to_ns);
  // The collective over these ranks that a gradient of so many elements lacks, and what the first of them did reduce
  // over their group in that step; empty where no group has just these ranks.
  std::vector<std::string> missing(const std::vector<int>& ranks, std::int64_t step, std::uint64_t elements);

 private:
  struct Reduced {
    std::uint64_t calls = 0;
    std::uint64_t elements = 0;
    bool operator==(const Reduced&) const = default;
  };
  struct Call {
    std::uint64_t time_ns = 0;
    std::uint64_t elements = 0;
  };
  struct OfRank {
    std::map<std::int64_t, Reduced> steps;
    std::vector<Call> calls;
  };
  const OfRank& of_rank(int rank);

  const Subject& subject_;
  std::map<int, OfRank> ranks_;
};

}  // namespace plumbline::checks
