// Check `failed_allocations`: requests for memory that were refused, with their size and what was held at the time.
//
// A refused cudaMalloc alone is no fault: the caching allocator then frees its cache and asks again. It becomes one
// when no later request of that size was granted.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_failed_allocations(const Subject& subject);

}  // namespace plumbline::checks
