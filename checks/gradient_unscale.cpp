#include "checks/gradient_unscale.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace plumbline::checks {
namespace {

bool power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value > 1 && std::frexp(value, &exponent) == 0.5;
}

// Of each element; nothing where they differ. Elements that are zero, or too small to be divided exactly, do not tell.
std::optional<double> divisor(std::span<const double> before, std::span<const double> after) {
  std::optional<double> common;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (std::fabs(after[i]) < 0x1p-100) continue;
    const double one = before[i] / after[i];
    if (one != common.value_or(one)) return std::nullopt;
    common = one;
  }
  return common;
}

std::optional<double> divisor_of(CaptureLoader& loader, const StepTrails& trails) {
  std::optional<double> common;
  for (const auto& [name, trail] : trails.parameters) {
    if (trail.backward == nullptr || trail.reduced() == nullptr) continue;
    const std::vector<double> before = loader.values(trail.backward);
    const std::vector<double> after = values_in_places_of(loader, trail.reduced(), *trail.backward);
    if (before.empty() || before.size() != after.size()) continue;
    const bool zero = std::all_of(before.begin(), before.end(), [](double value) { return value == 0; });
    if (zero) continue;
    const auto one = divisor(before, after);
    if (!one || *one != common.value_or(*one)) return std::nullopt;
    common = one;
  }
  return common;
}

}  // namespace

std::map<std::pair<int, std::int64_t>, double> gradient_divisors(CaptureLoader& loader,
                                                                 const std::vector<StepTrails>& trails) {
  std::map<std::pair<int, std::int64_t>, double> divisors;
  for (const StepTrails& one : trails) {
    const auto found = divisor_of(loader, one);
    if (found && power_of_two(*found)) divisors[{one.step->rank, one.step->step}] = *found;
  }
  return divisors;
}

}  // namespace plumbline::checks
