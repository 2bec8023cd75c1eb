// Findings of check `mismatch` about calls that differ.
#pragma once

#include "checks/call_classes.hpp"
#include "checks/group_fronts.hpp"
#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Finding calls_finding(const Subject& subject, Attempt attempt, const GroupFront& front, const FirstDifference& first);

// One side of a message or a collective, told as "rank 3 called …".
struct Caller {
  std::int32_t rank = -1;
  std::size_t trace = 0;
  reader::Collective call;  // with marks
};
std::string caller_line(const Subject& subject, const Caller& caller);
Evidence evidence_of(const Subject& subject, const Caller& caller);
// "rank 0 called at train.py:30 in main; rank 1 …": empty when no line is known.
std::string lines_text(const Subject& subject, const std::vector<Caller>& callers);

}  // namespace plumbline::checks
