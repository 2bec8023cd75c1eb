// An optimizer that steps copies in a wider type: does the model get what became of them?
#pragma once

#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

void examine_master_weights(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                            Observations& into);

}  // namespace plumbline::checks
