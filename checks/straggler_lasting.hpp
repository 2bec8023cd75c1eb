// The straggler check for a look at everything: only what is large, lasts, and is not the machine's doing is told
// there, so that a job on a machine that other programs use too stays clean.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// Has no undecided findings: those are a word in the reason, for a question of its own (check_straggler). Times of
// imported files, and runs with so many calls that comparing all of them takes long, are left to that question as well.
Verdict check_lasting_straggler(const Subject& subject);

}  // namespace plumbline::checks
