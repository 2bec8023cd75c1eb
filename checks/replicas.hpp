// Check: does what must agree over a group agree, bit by bit, and differ what must differ?
//
// Parameters, gradients as the optimizer sees them, optimizer state and settings of ranks that hold the same parameter;
// and the data of data-parallel ranks, which must not be the same. docs/checks.md says what counts as a replica.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_replicas(const Subject& subject);

}  // namespace plumbline::checks
