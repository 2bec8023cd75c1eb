// Does each step get the gradient that backward() left, reduced over its replicas once, and none of the step before?
#pragma once

#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

void examine_gradient_scale(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                            Observations& into);

}  // namespace plumbline::checks
