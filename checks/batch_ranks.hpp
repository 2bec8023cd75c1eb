// Which ranks take parts of one batch, so that they must see different rows and that their gradients are averaged.
//
// The job's wrappers say so (DistributedDataParallel, FSDP), each rank of its own groups; taken together these give
// whole sets: in a mesh of data and tensor parallelism one for each tensor-parallel rank.
#pragma once

#include <vector>

#include "checks/optimizer_capture.hpp"

namespace plumbline::checks {

// Sets of two ranks or more, each rising; none where no wrapper says anything.
std::vector<std::vector<int>> batch_sets(const std::vector<CapturedStep>& steps);

}  // namespace plumbline::checks
