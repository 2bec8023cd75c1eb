// Steps of a job that marks none: a training loop calls the same collectives over and over, so the length of its
// shortest repetition is a step.
//
//   const std::size_t calls_per_step = period_of(signatures);   // 0: no repetition
//   const StepClock steps = step_clock(subject, trace);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

// The least p for which at least nine in ten of the last calls equal the call p before them, and which occurs at least
// three times; 0: none. The first calls (set-up) are left out of it.
std::size_t period_of(std::span<const std::uint32_t> signatures);

// Where the steps of a run begin and end, by one of its ranks.
struct StepClock {
  bool marked = false;             // by optimizer steps, so that every rank can number its own calls
  std::size_t calls = 0;           // collectives a step, where the steps are inferred
  std::int64_t first = 0;          // number of the first whole step
  std::vector<std::int64_t> ends;  // on the run's clock; step first + i covers ends[i] … ends[i + 1]

  std::int64_t count() const { return ends.size() < 2 ? 0 : static_cast<std::int64_t>(ends.size()) - 1; }
  std::int64_t duration(std::int64_t index) const;
  // The step that a time on the run's clock belongs to; beyond both ends: the numbers that follow on.
  std::int64_t step_at(std::int64_t time) const;
};

StepClock step_clock(const Subject& subject, std::size_t trace);

}  // namespace plumbline::checks
