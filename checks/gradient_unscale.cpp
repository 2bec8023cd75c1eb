#include "checks/gradient_unscale.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

// What the elements of all parameters were divided by. Elements that are zero, or too small to be divided to their
// type's rounding, do not tell.
class Quotients {
 public:
  void add(const Capture& from, std::span<const double> before, const Capture& to, std::span<const double> after) {
    const double unit = std::max(unit_roundoff(from.dtype), unit_roundoff(to.dtype));
    unit_ = std::max(unit_, unit);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (std::fabs(after[i]) < std::max(0x1p-100, underflow_error(to.dtype) / unit)) continue;
      const double one = before[i] / after[i];
      least_ = count_ == 0 ? one : std::min(least_, one);
      most_ = count_ == 0 ? one : std::max(most_, one);
      sum_ += one;
      ++count_;
    }
  }

  // Nothing where they differ by more than two roundings of each explain.
  std::optional<double> common() const {
    if (count_ == 0 || !std::isfinite(most_) || least_ <= 0 || most_ - least_ > 8 * unit_ * most_) return std::nullopt;
    const double mean = sum_ / static_cast<double>(count_);
    const double whole = std::round(mean);
    return std::fabs(mean - whole) <= 2 * unit_ * mean ? whole : mean;
  }

 private:
  double unit_ = 0;
  double least_ = 0;
  double most_ = 0;
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::optional<double> quotient(CaptureLoader& loader, const Capture& from, const Capture& to) {
  Quotients quotients;
  const std::vector<double> before = loader.values(&from);
  const std::vector<double> after = values_in_places_of(loader, &to, from);
  if (before.size() == after.size()) quotients.add(from, before, to, after);
  return quotients.common();
}

// A pipeline's stage is scaled when its own backward passes are done, while those of another one in the same process go
// on. What an earlier backward() left may be a multiple of what was there later, but not smaller: then something was
// added to it.
std::optional<double> divisor_of_one(CaptureLoader& loader, const GradientTrail& trail) {
  auto divisor = quotient(loader, *trail.backward, *trail.reduced());
  const Capture* later = trail.backward;
  for (auto earlier = trail.earlier.rbegin(); divisor && earlier != trail.earlier.rend(); ++earlier) {
    const auto here = quotient(loader, **earlier, *later);
    if (!here || *here < 1) break;
    *divisor *= *here;
    later = *earlier;
  }
  return divisor;
}

// What most parameters were divided by, where to the others something was added, as to weights that two stages tie.
std::optional<double> divisor_of_most(CaptureLoader& loader, const StepTrails& trails) {
  std::optional<double> common;
  std::size_t agree = 0;
  std::size_t all = 0;
  for (const auto& [name, trail] : trails.parameters) {
    if (trail.backward == nullptr || trail.reduced() == nullptr) continue;
    ++all;
    const auto divisor = divisor_of_one(loader, trail);
    if (!divisor) continue;
    if (common && std::fabs(*divisor - *common) > 1e-5 * *common) return std::nullopt;
    common = divisor;
    ++agree;
  }
  return 2 * agree > all ? common : std::nullopt;
}

std::optional<double> divisor_of(CaptureLoader& loader, const StepTrails& trails) {
  Quotients quotients;
  for (const auto& [name, trail] : trails.parameters) {
    if (trail.backward == nullptr || trail.reduced() == nullptr) continue;
    const std::vector<double> before = loader.values(trail.backward);
    const std::vector<double> after = values_in_places_of(loader, trail.reduced(), *trail.backward);
    if (before.size() == after.size()) quotients.add(*trail.backward, before, *trail.reduced(), after);
  }
  const auto common = quotients.common();
  return common ? common : divisor_of_most(loader, trails);
}

}  // namespace

std::map<std::pair<int, std::int64_t>, double> gradient_divisors(CaptureLoader& loader,
                                                                 const std::vector<StepTrails>& trails) {
  std::map<std::pair<int, std::int64_t>, double> divisors;
  for (const StepTrails& one : trails) {
    const auto found = divisor_of(loader, one);
    if (found && *found != 1) divisors[{one.step->rank, one.step->step}] = *found;
  }
  return divisors;
}

}  // namespace plumbline::checks
