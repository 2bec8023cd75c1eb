// Point-to-point calls that wait for a peer which never made its half: a receive without its send, or the reverse.
#pragma once

#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// One finding for each pair of ranks in a group, its oldest call. Reads every collective of the run, but only when some
// trace has a point-to-point call that did not end.
std::vector<Finding> unpaired_calls(const Subject& subject, int attempt);

}  // namespace plumbline::checks
