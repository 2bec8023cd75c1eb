#include "checks/optimizer_solve.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

struct Line {
  double at_zero = 0;
  double slope = 0;
  double error = 0;
};

void narrow_down(Interval& interval, const Line& line, double actual) {
  if (!std::isfinite(line.slope) || !std::isfinite(line.error) || !std::isfinite(actual)) return;
  // An element that hardly depends on x says nothing.
  if (std::fabs(line.slope) <= 1e-9 * (line.error + std::fabs(line.at_zero)) || line.slope == 0) return;
  const double middle = (actual - line.at_zero) / line.slope;
  const double width = line.error / std::fabs(line.slope);
  interval.low = std::max(interval.low, middle - width);
  interval.high = std::min(interval.high, middle + width);
  interval.bounded = true;
}

const std::vector<Bounded>& results(const Predicted& predicted, int state) {
  return state < 0 ? predicted.param : predicted.state[static_cast<std::size_t>(state)];
}

// Of x in units of `scale`; `widening` is a factor on the bounds.
Interval solve_once(const ParameterData& data, const HypothesisAt& at, double scale, int state, double widening) {
  Interval interval;
  std::vector<Line> lines;
  predict(data, at(0), [&](const RuleInputs&, const Predicted& predicted, std::size_t) {
    for (const Bounded& one : results(predicted, state)) lines.push_back({one.value, 0, one.error});
  });
  const RawTensor& after = state < 0 ? data.after : data.state_after[static_cast<std::size_t>(state)];
  if (after.count() != lines.size()) return interval;
  std::vector<double> actual;
  after.decode(0, after.count(), actual);
  std::size_t place = 0;
  predict(data, at(scale), [&](const RuleInputs&, const Predicted& predicted, std::size_t) {
    for (const Bounded& one : results(predicted, state)) {
      Line& line = lines[place];
      line.slope = one.value - line.at_zero;
      line.error = std::max(line.error, one.error) * widening;
      narrow_down(interval, line, actual[place++]);
    }
  });
  return interval;
}

Interval scaled(const Interval& interval, double scale) {
  return {std::min(interval.low * scale, interval.high * scale), std::max(interval.low * scale, interval.high * scale),
          interval.bounded};
}

}  // namespace

Interval solve(const ParameterData& data, const HypothesisAt& at, double scale, int state) {
  const Interval about = scaled(solve_once(data, at, scale, state, 64), scale);
  if (!about.holds() || about.middle() == 0 || !std::isfinite(about.middle())) return about;
  return scaled(solve_once(data, at, about.middle(), state, 1), about.middle());
}

double plain_value(const Interval& interval) {
  const double middle = interval.middle();
  const double whole = std::round(middle);
  if (whole != 0 && interval.contains(whole)) return whole;
  if (middle != 0) {
    const double part = 1 / std::round(1 / middle);
    if (std::isfinite(part) && interval.contains(part)) return part;
  }
  return middle;
}

}  // namespace plumbline::checks
