// The captured calls of a loss function and of fused heads, each computed anew.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/cross_entropy.hpp"

namespace plumbline::checks {

// By step. `why_not`: of those that could not be, how many for which reason.
std::vector<LossCall> captured_losses(const reader::RunCaptures& captures, CaptureLoader& loader,
                                      std::map<std::string, std::size_t>& why_not);

}  // namespace plumbline::checks
