// Labels held against the token ids that they come from: by how many places they are shifted, and whether the token
// that ends a document is ever one.
#pragma once

#include <vector>

#include "checks/cross_entropy.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {

// The number of calls whose labels could be held against token ids.
std::size_t examine_labels(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                           Observations& into);

}  // namespace plumbline::checks
