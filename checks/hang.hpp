// Check `hang`: who holds the run up, when it stands still, or was ended while it did.
//
// Every rank that is blocked in an operation is followed to what nobody else's absence explains: ranks that never
// joined it, an operation that all have joined and that does not end, ranks that wait for each other in a circle. Ranks
// that wait because of those are counted, not blamed. A difference that may be under way is told from a hang by the
// time that it has lasted, measured against the run's own collectives.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_hang(const Subject& subject);

}  // namespace plumbline::checks
