// By what a job divides its gradients before the step, as a loss scaler does, one's own scaling of the loss, or a loss
// that is summed first and divided by the number of tokens or micro-batches when that is known.
//
// Seen where a gradient was captured both after backward() and at the step: the same for all parameters and elements.
// Below 1 where gradients are multiplied. Clipping comes after it and does not hide it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "checks/gradient_trails.hpp"

namespace plumbline::checks {

// By rank and step; only what is not 1.
std::map<std::pair<int, std::int64_t>, double> gradient_divisors(CaptureLoader& loader,
                                                                 const std::vector<StepTrails>& trails);

}  // namespace plumbline::checks
