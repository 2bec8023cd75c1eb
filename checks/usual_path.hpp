// Whether a rank came to a call on the way that it had taken before, over all its groups: tells who strayed among ranks
// that wait for each other in different calls, where each group by itself shows nothing wrong.
//
//   const PathStep step = path_to(trace, call);
//   if (step.habit == Habit::kBroken) … step.usual is what it called at that place earlier
#pragma once

#include "checks/call_sequence.hpp"
#include "reader/collectives.hpp"
#include "reader/trace.hpp"

namespace plumbline::checks {

struct PathStep {
  Habit habit = Habit::kUnknown;
  reader::Collective usual;  // without marks; where the habit is broken
};

// Looks at the calls of the last minutes before `call`, a call of that trace.
PathStep path_to(const reader::Trace& trace, const reader::Collective& call);

}  // namespace plumbline::checks
