// Does each learning-rate schedule move the optimizer that steps, its own groups, and one step at a time?
#pragma once

#include <set>
#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_capture.hpp"

namespace plumbline::checks {

void examine_schedules(const Subject& subject, const std::vector<CapturedStep>& steps, Observations& into,
                       std::set<std::string>& remarks);

}  // namespace plumbline::checks
