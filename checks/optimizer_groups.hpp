// What the captured steps of one optimizer show over time and over its parameters: parameters that never get a
// gradient, weight decay in the wrong group, updates too small for the dtype.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_parameter.hpp"

namespace plumbline::checks {

// Parameters that require a gradient and have none in any of the steps, which are those of one optimizer on one rank.
// No fault by itself: a branch may be unused, and an expert may get no token in a few steps.
std::vector<std::string> without_gradient(std::span<const CapturedStep> steps);

// Of such a parameter: did its module run, and another one go on with the result but without its graph? False: nothing
// is known of that.
bool examine_detached(std::span<const CapturedStep> steps, const std::string& name, Observations& into);

void examine_decay(const CapturedStep& step, Observations& into);

// By dtype: what became of the updates of one step.
using UpdateShares = std::map<recorder::Dtype, UpdateShare>;
// A smaller loss than a fault is a remark, for the limits of the check: that of the first step which shows it, by what
// it is of.
using LossRemarks = std::map<std::string, std::string>;
void examine_lost_updates(const CapturedStep& step, const UpdateShares& shares, Observations& into,
                          LossRemarks& remarks);

std::string component_of(const CapturedStep& step);

}  // namespace plumbline::checks
