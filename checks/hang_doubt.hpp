// What speaks against a finding of check `hang`: time that has not passed yet, records that are lost, ranks unseen.
#pragma once

#include "checks/hang_scene.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// Makes the finding inconclusive where it may be no fault, and says what is not known.
void add_doubts(const HangScene& scene, const Judgement& judgement, Finding& finding);

}  // namespace plumbline::checks
