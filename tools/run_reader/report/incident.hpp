// The stretch of a run that a report shows in close-up.
#pragma once

#include <vector>

#include "checks/verdict.hpp"
#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

struct Incident {
  double from_s = 0;  // since the run's start
  double to_s = 0;
  std::vector<std::int32_t> ranks;  // to show, those of the first finding first
  std::size_t left_out = 0;         // ranks that are not shown
};

// Around the records of the first finding; without findings around the end of the last step.
Incident incident_of(const Context& context, const std::vector<checks::Verdict>& verdicts);

}  // namespace plumbline::tools
