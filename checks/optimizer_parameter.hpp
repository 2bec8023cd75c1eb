// One parameter in one captured step, examined: its update, its state, its counters, and what happened to them since
// the step before.
#pragma once

#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

// How much of the updates reached the parameters, in tensors of one dtype.
struct UpdateShare {
  std::size_t moving = 0, unmoved = 0;
  double moving_sum = 0, unmoved_sum = 0;
  std::size_t decaying = 0, decay_lost = 0;

  void add(const ParameterOutcome& outcome);
  double share() const { return moving > 0 ? static_cast<double>(unmoved) / static_cast<double>(moving) : 0; }
  double weight() const { return moving_sum > 0 ? unmoved_sum / moving_sum : 0; }
  double decay_share() const {
    return decaying > 0 ? static_cast<double>(decay_lost) / static_cast<double>(decaying) : 0;
  }
};

struct ParameterExam {
  std::vector<Observation> observations;
  ParameterOutcome outcome;
  bool recomputed = false;
  std::string why_not;
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  bool fused = false;
  std::uint64_t bytes = 0;    // that were looked at
  double counter = 0;         // before the step; NaN: none
  bool empty_moment = false;  // of zeros, though it has a gradient and a counter
  bool held_moment = false;
};

struct ParameterContext {
  CaptureLoader* loader = nullptr;
  const CapturedStep* step = nullptr;
  const CapturedStep* previous = nullptr;  // the last captured step of the same optimizer on the same rank
  const Rule* rule = nullptr;              // null: none is known
};

ParameterExam examine(const ParameterContext& context, const CapturedParameter& parameter);

}  // namespace plumbline::checks
