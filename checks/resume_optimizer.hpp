// An optimizer's state after a resume: moments, step counters, groups.
#pragma once

#include <vector>

#include "checks/verdict.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

// Of all optimizers in the two states.
std::vector<Finding> resume_moment_findings(const reader::Checkpoint& subject, const reader::Checkpoint& reference);
std::vector<Finding> resume_group_findings(const reader::Checkpoint& subject, const reader::Checkpoint& reference);

// What the first Adam update after a resume is, over the right one, when the moments are kept and the step counter
// goes from `saved` to `resumed`.
double update_ratio(double saved, double resumed, double beta1, double beta2);

}  // namespace plumbline::checks
