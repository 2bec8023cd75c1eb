#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "checks/size_explainer.hpp"

namespace plumbline::checks {
namespace {

// Expected number of units that would divide the sizes by chance, above which a fit says nothing.
constexpr double kChance = 0.05;
constexpr std::uint64_t kFewestRows = 16;  // fewer are a number of something else
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 32;
constexpr std::array kElementBytes = {4U, 2U, 1U};

struct Unit {
  std::vector<Factor> factors;
  std::uint64_t elements = 1;
};

// Single dimensions and pairs of them.
std::vector<Unit> units_of(const std::vector<Dimension>& fixed) {
  std::vector<Unit> units;
  for (std::size_t a = 0; a < fixed.size(); ++a) {
    if (fixed[a].value < 2) continue;
    units.push_back({{{fixed[a].name, 1}}, fixed[a].value});
    for (std::size_t b = a + 1; b < fixed.size(); ++b) {
      const auto both = product(fixed[a].value, fixed[b].value);
      if (fixed[b].value >= 2 && both) units.push_back({{{fixed[a].name, 1}, {fixed[b].name, 1}}, *both});
    }
  }
  return units;
}

std::uint64_t root_of(std::uint64_t value) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
  while (root > 0 && root > value / root) --root;
  while (root + 1 <= value / (root + 1)) ++root;
  return root;
}

// The number of rows that gives exactly this size, and how likely some number would.
struct Rows {
  std::uint64_t rows = 0;
  double chance = 1;
};

std::optional<Rows> rows_of(const AskedSizes& observation, std::uint64_t unit, unsigned power, SizeRounding rounding) {
  const double width = static_cast<double>(std::max(width_of(rounding), 2 * observation.tolerance + 1));
  std::optional<Rows> found;
  for (const std::uint64_t size : observation.sizes) {
    const std::uint64_t units = size / unit;
    const std::uint64_t rows = power == 1 ? units : root_of(units);
    if (rows < kFewestRows || rows > kMostRows) continue;
    const std::uint64_t whole = (power == 1 ? rows : rows * rows) * unit;
    const std::uint64_t is = rounded(whole, rounding);
    if ((is > size ? is - size : size - is) > observation.tolerance) continue;
    // Sizes are multiples of powers of two, mostly: only the odd part tells.
    const std::uint64_t told = power == 1 ? unit : whole;
    const double even = static_cast<double>(told & (~told + 1));
    const double step = static_cast<double>(unit) * (power == 1 ? 1.0 : 2.0 * static_cast<double>(rows));
    const double chance = std::min(1.0, std::max(width, even) / step * static_cast<double>(observation.sizes.size()));
    if (!found || chance < found->chance) found = Rows{rows, chance};
  }
  return found;
}

struct Fit {
  Formula formula;
  std::vector<std::uint64_t> rows;
};

// Units that would have been taken before this one, each linear or squared. Powers of two divide everything.
double tries(const std::vector<Unit>& units, const Unit& unit) {
  const auto count = std::count_if(units.begin(), units.end(), [&](const Unit& other) {
    return other.factors.size() <= unit.factors.size() && !std::has_single_bit(other.elements);
  });
  return std::max(1.0, 2.0 * static_cast<double>(count));
}

}  // namespace

SizeExplanation explain_rows(const std::vector<Dimension>& fixed, std::span<const AskedSizes> observations,
                             std::span<const SizeRounding> roundings) {
  SizeExplanation explanation;
  explanation.observations = observations.size();
  if (observations.empty()) return explanation;
  const std::vector<Unit> units = units_of(fixed);
  std::vector<Fit> fits;
  for (const SizeRounding rounding : roundings) {
    for (const unsigned power : {1U, 2U}) {
      for (const Unit& unit : units) {
        for (const unsigned bytes : kElementBytes) {
          const auto unit_bytes = product(unit.elements, bytes);
          if (!unit_bytes) continue;
          double chance = tries(units, unit);
          std::vector<std::uint64_t> rows;
          for (const AskedSizes& one : observations) {
            const auto found = rows_of(one, *unit_bytes, power, rounding);
            if (!found) break;
            rows.push_back(found->rows);
            chance *= found->chance;
          }
          if (rows.size() != observations.size() || chance > kChance) continue;
          Formula formula{{{std::string(kRows), power}}, 1, bytes, rounding};
          formula.factors.insert(formula.factors.end(), unit.factors.begin(), unit.factors.end());
          fits.push_back({std::move(formula), std::move(rows)});
        }
      }
    }
    if (!fits.empty()) break;
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fit& a, const Fit& b) { return a.formula.factors.size() < b.formula.factors.size(); });
  for (Fit& fit : fits) explanation.classes.push_back({std::move(fit.formula), {}});
  if (!fits.empty()) explanation.rows = std::move(fits.front().rows);
  return explanation;
}

}  // namespace plumbline::checks
