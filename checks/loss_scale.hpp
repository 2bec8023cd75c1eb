// What backward() was called on, over all micro-batches and data-parallel ranks of a step, against the mean over all
// supervised tokens of that step.
#pragma once

#include <string>
#include <vector>

#include "checks/cross_entropy.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {

// The number of steps that could be judged.
std::size_t examine_scale(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                          Observations& into);

}  // namespace plumbline::checks
