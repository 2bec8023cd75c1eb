// Check `memory`: was every request for memory granted, and does what is held stop growing.
//
// A request that failed is told with its time, step, range and line, with what was held then and by whom, with what was
// missing where that is known, and, given the run's dimensions, with the product that its size is.
#pragma once

#include <vector>

#include "checks/memory_profile.hpp"
#include "checks/run_dimensions.hpp"
#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_memory(const Subject& subject);
// With profiles made before, one for each trace.
Verdict check_memory(const Subject& subject, const std::vector<MemoryProfile>& profiles,
                     const RunDimensions& dimensions);

// One for each trace, made on several threads. Only traces that have something to be told: all, or those with a failed
// request or enough steps to judge a leak by; the others' are empty.
std::vector<MemoryProfile> memory_profiles(const Subject& subject, bool all);

}  // namespace plumbline::checks
