// What a process was doing at the end of its trace: the question that follows "which rank is missing".
#pragma once

#include <optional>
#include <string>

#include "checks/subject.hpp"
#include "reader/collectives.hpp"
#include "reader/ranges.hpp"
#include "reader/steps.hpp"

namespace plumbline::checks {

struct LastActivity {
  std::optional<reader::Collective> ended_collective;  // the last that ended
  std::optional<reader::Collective> open_collective;   // the oldest that did not
  std::optional<reader::OptimizerStep> step;           // the last that was entered
  std::optional<reader::Range> open_range;             // innermost that was not left
  std::optional<reader::Range> ended_range;            // the last that was left
};

// Reads the trace's tail: the last seconds that hold anything, not the whole file where that can be helped.
// `around_ns` (0: the end) is a time from before which open ranges must be known.
LastActivity last_activity(const reader::Trace& trace, std::uint64_t around_ns);

// "all_reduce #36 of default_pg until 11.214 s, AdamW.step (step 2) until 11.300 s": the two latest, in order.
std::string last_activity_text(const Subject& subject, std::size_t trace, const LastActivity& activity);

}  // namespace plumbline::checks
