// Which value of a setting explains all elements of an update: each element allows an interval, and what is left of all
// of them is the answer.
#pragma once

#include <cmath>
#include <functional>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct Interval {
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  bool bounded = false;  // by at least one element

  bool holds() const { return bounded && low <= high; }
  double middle() const { return (low + high) / 2; }
  bool contains(double value) const { return low <= value && value <= high; }
  // No wider than `share` of its middle.
  bool narrow(double share) const { return holds() && (high - low) <= share * std::fabs(middle()); }
};

// For a result that depends linearly on x, of the parameter (state < 0) or of a state; `at` makes the hypothesis of an
// x, and `scale` is a guess of its size. The bound of an element grows with x, so the answer is looked for twice: first
// with wide bounds, then with those at the place that was found.
using HypothesisAt = std::function<Hypothesis(double x)>;
Interval solve(const ParameterData& data, const HypothesisAt& at, double scale, int state = -1);

// The number that a person would have meant: a whole one or its reciprocal, when the interval holds one.
double plain_value(const Interval& interval);

}  // namespace plumbline::checks
