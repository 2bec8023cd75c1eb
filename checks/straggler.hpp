// Does any rank keep the others waiting, and did steps become slower: slow ranks, as opposed to ranks that never come.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// Fails where a rank (or the ranks of a host, or whoever has most to do) costs the others 5 % of the time or more,
// where steps became slower by a tenth or more, and where single steps took several times as long. Inconclusive with
// too few steps to tell a slow rank from scatter.
Verdict check_straggler(const Subject& subject);

}  // namespace plumbline::checks
