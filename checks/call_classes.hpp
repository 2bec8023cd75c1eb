// The first place at which the ranks of a group made different calls, found by comparing ledgers, and read again only
// where those differ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checks/call_sequence.hpp"
#include "checks/group_fronts.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

// Members that made the same calls, in one block of numbers.
struct CallClass {
  std::vector<const FrontMember*> members;
  CallSequence calls;             // of the first of them
  Habit habit = Habit::kUnknown;  // at the first difference
};

struct FirstDifference {
  std::uint64_t seq = 0;
  Difference difference = Difference::kNone;  // of the largest class and the first that differs from it
  // The largest first, of equally large ones those that did as before; members that are alike at `seq` are in one.
  std::vector<CallClass> classes;
  std::uint64_t further = 0;         // calls after it that differ too, in the same block
  std::uint64_t further_blocks = 0;  // blocks after that one that differ
};

struct CallComparison {
  std::optional<FirstDifference> terms;  // what was called differs
  std::optional<FirstDifference> lines;  // the same was called, from different lines
  std::uint64_t compared = 0;            // numbers that at least two ranks were compared in
  bool gave_up = false;                  // too many blocks differ in their lines to look at each
};

CallComparison compare_calls(const Subject& subject, const GroupFront& front);

}  // namespace plumbline::checks
