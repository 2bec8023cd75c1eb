// Was every gradient clipped by the one coefficient that the norm over all ranks gives?
//
// The norm is computed anew from the gradients before clipping: shards of all ranks put together by the placement that
// the job recorded, replicas counted once. What the function returned (and the job logs) is not judged.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

void examine_clipping(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                      Observations& into, std::set<std::string>& remarks);

}  // namespace plumbline::checks
