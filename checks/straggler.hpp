// Does any rank keep the others waiting, and did steps become slower: slow ranks, as opposed to ranks that never come.
#pragma once

#include <cstdint>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// What a loss must come to until it is a failure; one that stays below is undecided.
struct StragglerBar {
  double share = 0;       // of the whole time
  std::int64_t lost = 0;  // in all, in nanoseconds
  double slowdown = 0;    // of steps that became slower on all ranks: by what part
  // Nor may the machine be the cause: it is, as far as one can tell, where nobody recorded how long threads waited for
  // a processor, or where they do wait and nothing else tells why the ranks were late.
  bool not_the_machine = false;
};

// Fails where a rank (or the ranks of a host, or whoever has most to do) costs the others 5 % of the time or more,
// where steps became slower by a tenth or more, and where single steps took several times as long. Inconclusive with
// too few steps to tell a slow rank from scatter.
Verdict check_straggler(const Subject& subject);
Verdict check_straggler(const Subject& subject, const StragglerBar& bar);

}  // namespace plumbline::checks
