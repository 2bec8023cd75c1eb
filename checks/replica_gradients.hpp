// What backward() left of one parameter's gradient on all of its replicas, to be held against what their steps got.
#pragma once

#include <optional>
#include <vector>

#include "checks/gradient_trails.hpp"

namespace plumbline::checks {

struct ReplicaGradient {
  std::vector<double> mean;
  std::vector<double> sizes;  // mean magnitude, for the bound
  bool equal = true;          // on all ranks, bit by bit
  double tolerance = 0;       // of a sum over them, relative to `sizes`
};

// Empty where they are not of the same places.
ReplicaGradient replica_gradient(CaptureLoader& loader, const std::vector<const GradientTrail*>& replicas);

// The factor that makes `used` of the mean, element by element; of one that is a whole number, or a whole part, just
// that.
std::optional<double> factor_of(const std::vector<double>& used, const ReplicaGradient& gradient);

}  // namespace plumbline::checks
