// Calls of learning-rate schedules, in the order in which they moved an optimizer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_capture.hpp"

namespace plumbline::checks {

struct ScheduleCall {
  const Capture* note = nullptr;
  int rank = -1;
  std::string class_name;
  std::int64_t schedule = 0;                    // its number in the process
  std::optional<std::int64_t> optimizer;        // ordinal of the one whose groups it moves
  std::optional<std::int64_t> same_parameters;  // ordinal of one that has its parameters in other groups
  double last_epoch = 0;                        // after the call
  std::optional<double> horizon;                // steps until it ends
  std::vector<std::optional<double>> before, lr, initial_lr, base_lr;  // by group
};

// What one schedule did around the steps of one optimizer on one rank.
struct ScheduledSteps {
  std::vector<const CapturedStep*> steps;        // in their order
  std::vector<std::vector<ScheduleCall>> calls;  // after steps[i], before the next one
  std::vector<std::size_t> backward;             // calls of backward() before steps[i], since the step before it
};

struct ScheduleKey {
  int rank = -1;
  std::int64_t optimizer = 0;
  std::int64_t schedule = 0;
  auto operator<=>(const ScheduleKey&) const = default;
};

struct Schedules {
  std::map<ScheduleKey, ScheduledSteps> moved;
  std::vector<ScheduleCall> elsewhere;  // that move no optimizer that steps
};

Schedules schedules_of(const reader::RunCaptures& captures, const std::vector<CapturedStep>& steps);

}  // namespace plumbline::checks
