// How the time that a step takes goes on over a run: the point where it changed for good, and single steps that took
// far longer than their neighbours. Judged against the run's own scatter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plumbline::checks {

// Lower median, 0 of nothing.
std::int64_t median_of(std::vector<std::int64_t> values);

struct CadenceChange {
  std::size_t at = 0;       // first step of the slower stretch
  std::int64_t before = 0;  // median step time, in nanoseconds
  std::int64_t after = 0;
  std::int64_t scatter = 0;  // median distance from the median, the larger of both sides

  std::int64_t shift() const { return after - before; }
};

// A change to slower steps. It must be a tenth of the step time, four times the scatter, and hold for ten steps on both
// sides; the place is where ranks of the step times before and after differ most (Pettitt's test, at one in a
// thousand).
std::optional<CadenceChange> slowdown(std::span<const std::int64_t> durations);

// Steps that took at least three times the median, and stand out of the scatter of the others tenfold. Where more than
// one step in ten does, none is single.
std::vector<std::size_t> stalled_steps(std::span<const std::int64_t> durations);

// How many steps at the start are warm-up: three, and further ones for as long as they take half as long again as the
// median, up to a fifth of the run.
std::size_t warm_up_steps(std::span<const std::int64_t> durations);

}  // namespace plumbline::checks
