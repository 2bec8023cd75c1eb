// Check `unfinished`: collectives that some ranks of a group never joined, or joined and never finished.
//
// This is what a hang looks like from outside, and what is left behind by a rank that died or left the loop early. The
// first such collective of each group is judged: who is missing, who waits for it, and what the missing rank did last.
// A rank that is missing in one group because it waits in another is not the cause; such findings come last.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_unfinished(const Subject& subject);

}  // namespace plumbline::checks
