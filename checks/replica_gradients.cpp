#include "checks/replica_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

double as_whole_number_or_part(double factor, double tolerance) {
  for (const double inverse : {false, true}) {
    const double value = inverse ? 1 / factor : factor;
    const double whole = std::round(value);
    if (whole >= 1 && std::fabs(value - whole) <= tolerance * whole) return inverse ? 1 / whole : whole;
  }
  return factor;
}

}  // namespace

ReplicaGradient replica_gradient(CaptureLoader& loader, const std::vector<const GradientTrail*>& replicas) {
  ReplicaGradient result;
  std::vector<double> first;
  double unit = 0;
  const auto world = static_cast<double>(replicas.size());
  for (const GradientTrail* replica : replicas) {
    const std::vector<double> values = loader.values(replica->backward);
    if (first.empty()) {
      first = values;
      result.mean.resize(values.size());
      result.sizes.resize(values.size());
    }
    if (values.size() != first.size()) return {};
    result.equal = result.equal && values == first;
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.mean[i] += values[i] / world;
      result.sizes[i] += std::fabs(values[i]) / world;
    }
    unit = std::max({unit, unit_roundoff(replica->backward->dtype), unit_roundoff(replica->reduced()->dtype)});
  }
  result.tolerance = (16 + world) * unit;
  return result;
}

std::optional<double> factor_of(const std::vector<double>& used, const ReplicaGradient& gradient) {
  if (used.empty() || used.size() != gradient.mean.size()) return std::nullopt;
  double product = 0;
  double square = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    product += used[i] * gradient.mean[i];
    square += gradient.mean[i] * gradient.mean[i];
  }
  if (!(square > 0) || !(product > 0) || !std::isfinite(product / square)) return std::nullopt;
  const double factor = as_whole_number_or_part(product / square, gradient.tolerance);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!(std::fabs(used[i] - factor * gradient.mean[i]) <= gradient.tolerance * factor * gradient.sizes[i]))
      return std::nullopt;
  }
  return factor;
}

}  // namespace plumbline::checks
