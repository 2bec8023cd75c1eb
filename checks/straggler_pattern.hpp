// Which ranks are slow, and in what way, from what every step lost.
//
// What counts: at least 5 % of the step time and 2 ms, by the same rank (or the ranks of one host) in at least half of
// the steps; or in single steps that lose eight times what a usual step loses. Scatter that favours nobody is no
// straggler.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "checks/straggler_steps.hpp"

namespace plumbline::checks {

enum class Pattern : std::uint8_t {
  kFixed,   // the same rank, or the same few
  kHost,    // the ranks of one host
  kWork,    // whoever has most to do
  kMoving,  // now one, now another, in some of the steps
  kTurns,   // now one, now another, in nearly all steps, so that it may be scatter
};

struct PatternScale {
  std::int64_t step_time = 0;     // median, in nanoseconds
  std::int64_t total = 0;         // all steps that were looked at
  std::vector<std::size_t> host;  // by trace
};

struct Straggling {
  Pattern pattern = Pattern::kFixed;
  std::vector<std::size_t> traces;  // worst first
  std::vector<std::size_t> steps;   // places in StepBook::steps() where it happened
  std::int64_t lost = 0;            // in these
  std::int64_t typical = 0;         // median of what such a step lost
  double correlation = 0;           // of lost time with work, where the pattern is kWork
  double share = 0;                 // of the whole time
};

// Below that a step's loss does not count.
std::int64_t least_loss(std::int64_t step_time);

std::optional<Straggling> find_straggling(const StepBook& book, const PatternScale& scale);

}  // namespace plumbline::checks
