// What backward() was called on, over all micro-batches and data-parallel ranks of a step, against the mean over all
// supervised tokens of that step.
#pragma once

#include <string>
#include <vector>

#include "checks/cross_entropy.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {

struct ScaleCount {
  std::size_t judged = 0;  // steps
  std::size_t left = 0;    // steps, by set of ranks, of which not all losses or backward() calls could be used
  std::size_t other = 0;   // of those judged: the loss is something else that is made of log-probabilities
};

ScaleCount examine_scale(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                         Observations& into);

}  // namespace plumbline::checks
