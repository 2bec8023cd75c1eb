// Ranks whose gradients are brought together by the job itself before the step, without a wrapper or past it: seen
// where those of each parameter differ after backward(), and are the same multiple of their mean on all replicas at the
// step.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "checks/gradient_trails.hpp"

namespace plumbline::checks {

struct OwnReduction {
  std::vector<int> ranks;  // rising
  double factor = 1;       // of the mean: their number where gradients are summed
};

// By step. Nothing of a step whose parameters do not agree on ranks and factor.
std::map<std::int64_t, OwnReduction> own_reductions(CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                                                    const std::vector<StepTrails>& trails);

}  // namespace plumbline::checks
