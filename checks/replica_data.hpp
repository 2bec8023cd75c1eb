// What must differ: the token ids of ranks that each take their own part of the batch.
#pragma once

#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

// The number of batches that were compared.
std::size_t examine_data(const Subject& subject, CaptureLoader& loader, const std::vector<int>& ranks,
                         Observations& into);

}  // namespace plumbline::checks
