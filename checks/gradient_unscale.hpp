// By what a job divides its gradients before the step, as a loss scaler does, or one's own scaling of the loss.
//
// Seen where a gradient was captured both after backward() and at the step: a power of two, the same for all parameters
// and elements. Clipping comes after it and does not hide it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "checks/gradient_trails.hpp"

namespace plumbline::checks {

// By rank and step; only what is above 1.
std::map<std::pair<int, std::int64_t>, double> gradient_divisors(CaptureLoader& loader,
                                                                 const std::vector<StepTrails>& trails);

}  // namespace plumbline::checks
