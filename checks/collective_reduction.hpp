// Is what a reduction left on each rank what the ranks gave, reduced?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/collective_blocks.hpp"
#include "checks/reduction_form.hpp"

namespace plumbline::checks {

// What all ranks gave for one block, at the places that were captured of all of them; of a sum of scaled parts times
// their factors.
struct Contributions {
  std::vector<std::uint64_t> places;
  std::vector<Elements> given;  // by member
};

struct WrongOutput {
  std::size_t member = 0;
  std::size_t differ = 0;   // elements outside of their bounds …
  std::size_t of = 0;       // … of so many
  std::uint64_t place = 0;  // of the first of them
  std::string got;
  std::string expected;
  std::vector<std::string> given;  // there, by member
  std::string cause;               // what explains all of them: a clause without a subject; empty: nothing was found
  double excess = 0;               // the largest distance over its bound
};

struct ReductionJudgement {
  std::size_t judged = 0;    // outputs
  std::size_t unjudged = 0;  // an input is missing, or there is no closed form
  bool blind = false;        // the bound is so wide that a rank's part could be missing unseen
  double margin = 0;         // the largest distance over its bound among the right ones
  std::vector<WrongOutput> wrong;
  // Members whose outputs have other bits than most, though each is right where it was looked at.
  std::vector<std::size_t> apart;
};

bool scatters(recorder::Op op);
// Nothing when a member's part is missing, or its factor.
std::optional<Contributions> contributions(const CallBlocks& blocks, std::size_t block);

ReductionJudgement judge_reduction(const CapturedCall& call, const CallBlocks& blocks);

}  // namespace plumbline::checks
