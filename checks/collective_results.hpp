// collective_results: is what each collective left on each rank what the ranks gave, moved or reduced?
#pragma once

#include <cstdint>
#include <map>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// How close the judgement of reductions was, for calibration: the largest deviation over its bound of results that are
// right, by the step of the captures.
using CollectiveMargins = std::map<std::int64_t, double>;

Verdict check_collective_results(const Subject& subject);
Verdict check_collective_results(const Subject& subject, CollectiveMargins& margins);

}  // namespace plumbline::checks
