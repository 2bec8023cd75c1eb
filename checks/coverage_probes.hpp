// Probes of a diagnosis that never fired, and why: what they were to capture no check has seen.
#pragma once

#include <vector>

#include "checks/coverage.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

// Reads the captures of the run.
std::vector<CoverageGap> probe_gaps(const Subject& subject);

}  // namespace plumbline::checks
