// Check: is each update the one that gradient, state and settings give?
//
// Every captured optimizer step is computed anew in float64 and compared element by element, within a bound that
// follows from the roundings of the job's arithmetic (checks/bounded.hpp). docs/checks.md says what it finds.
#pragma once

#include <cstdint>
#include <map>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// How close the judgement was, for calibration.
struct OptimizerMargins {
  std::size_t tensors = 0;                  // recomputed
  std::uint64_t bytes = 0;                  // of captures that were looked at
  double largest_agreeing = 0;              // deviation over bound, of parameters that agree
  double smallest_deviating = 0;            // of parameters that do not; 0: there are none
  std::map<std::int64_t, double> agreeing;  // the largest, by the ordinal of the optimizer
};

Verdict check_optimizer(const Subject& subject);
Verdict check_optimizer(const Subject& subject, OptimizerMargins& margins);

}  // namespace plumbline::checks
