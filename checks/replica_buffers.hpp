// Buffers that are the same whatever the batch is (tables of positions, masks, scales) and that replicas must share.
//
// One that changes from step to step on any rank depends on the batch, as running statistics do, or counts something:
// nothing is said of it. Nor is it of buffers of other shapes by rank, such as tables that grow with the longest row.
#pragma once

#include <cstddef>
#include <vector>

#include "checks/observations.hpp"
#include "checks/replica_data.hpp"
#include "checks/replica_sets.hpp"

namespace plumbline::checks {

// `sets`: ranks that hold the same model; those of them that no wrapper declares count where a buffer is not declared.
// Gives the number of buffers that could be compared.
std::size_t examine_buffers(const std::vector<CapturedStep>& steps, CaptureLoader& loader,
                            const std::vector<BatchSet>& sets, Observations& into);

}  // namespace plumbline::checks
