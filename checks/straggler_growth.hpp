// Whether steps that became slower have more to do: longer rows or larger batches ask for more memory.
#pragma once

#include "checks/straggler_words.hpp"

namespace plumbline::checks {

// So much more work is no accident.
constexpr double kMoreWork = 0.2;

// By what part a step of the reference rank asks for more bytes since the change, by the medians of steps near it; 0
// where that was not recorded, or it does not.
double work_growth(const StragglerScene& scene, const CadenceChange& change);

}  // namespace plumbline::checks
