// collective_results: is what each collective left on each rank what the ranks gave, moved or reduced?
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_collective_results(const Subject& subject);

}  // namespace plumbline::checks
