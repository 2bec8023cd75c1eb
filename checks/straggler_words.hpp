// What the straggler check says of a pattern, of a change of pace, and of a single long step.
#pragma once

#include <vector>

#include "checks/cadence.hpp"
#include "checks/straggler_gap.hpp"
#include "checks/straggler_pattern.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

// What was measured, with the means to say where.
struct StragglerScene {
  const Subject& subject;
  const StepClock& steps;
  std::size_t reference = 0;  // the trace that the steps are counted by
  const StepBook& book;
  const std::vector<WaitGroup>& groups;
  const PatternScale& scale;
  std::int64_t first_step = 0;  // number of durations[0]
  std::span<const std::int64_t> durations;
};

// What went on most often in the longest waits of a pattern.
struct GapCount {
  GapKind kind = GapKind::kUnknown;
  std::size_t count = 0;
  std::size_t of = 0;
};
GapCount usual_gap(const StragglerScene& scene, const Straggling& found);
// How long garbage was collected in its waits, as far as the longest tell.
std::int64_t collected_in(const StragglerScene& scene, const Straggling& found);

Finding straggling_finding(const StragglerScene& scene, const Straggling& found);

// `trace`: whose lateness makes up the change; none: all ranks became slower.
Finding slowdown_finding(const StragglerScene& scene, const CadenceChange& change, const LateCall* late);

// `late`: who came late in that step; null: all ranks were slow.
Finding stall_finding(const StragglerScene& scene, std::size_t step, const LateStep* late);

}  // namespace plumbline::checks
