// Parameters by what they are called, with the ranks that hold them, and which of these ever had the same gradient.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/replica_sets.hpp"

namespace plumbline::checks {

struct Holder {
  int rank = -1;
  const Capture* first = nullptr;  // the parameter as it was when it was first captured
  std::string module;              // class of the module that owns it
};

// One block of one parameter of an optimizer.
struct HeldParameter {
  std::string name;
  std::int64_t ordinal = 0;
  std::vector<Holder> holders;  // by rank

  const Capture& any() const { return *holders.front().first; }
};

std::vector<HeldParameter> held_parameters(const std::vector<CapturedStep>& steps);

// Ranks whose first values have the same bits, sets of two or more.
RankGroups equal_at_first(CaptureLoader& loader, const HeldParameter& parameter);

class GradientClasses {
 public:
  GradientClasses(const std::vector<CapturedStep>& steps, CaptureLoader& loader);

  // Ranks whose gradients have the same bits and are no constant, sets of two or more: of the step, among the first
  // ones, in which most ranks agree.
  RankGroups of(const HeldParameter& parameter);
  // Whether any of its gradients was captured.
  bool any(const HeldParameter& parameter) const;

 private:
  using Step = std::map<int, const CapturedStep*>;               // by rank
  std::map<std::pair<std::int64_t, std::int64_t>, Step> steps_;  // optimizer, step
  CaptureLoader& loader_;
};

}  // namespace plumbline::checks
