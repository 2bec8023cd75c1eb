// The headline of a finding of check `hang`, and what to do next.
#pragma once

#include <string>

#include "checks/hang_scene.hpp"

namespace plumbline::checks {

std::string hang_title(const HangScene& scene, const Judgement& judgement);
std::string hang_next(const HangScene& scene, const Judgement& judgement);

}  // namespace plumbline::checks
