// The first steps after a resume against the same steps of a run that was not interrupted, bit by bit.
//
// Steps are counted anew in each run: the resumed run's first step is that one of the reference which begins with the
// same parameters, or else with the same step counter of the optimizer. In the first step that differs, what differs
// first says what was not restored: the rows, the random state, the gradient, the optimizer's state, its settings.
#pragma once

#include "checks/verdict.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

Verdict check_resumed_steps(reader::RunCaptures& resumed, reader::RunCaptures& reference);

// Of the state and of the steps: the worse one, with what both have found.
Verdict joined_verdict(Verdict state, Verdict steps);

}  // namespace plumbline::checks
