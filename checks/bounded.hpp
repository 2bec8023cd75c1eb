// Numbers that know how far off they may be: running error analysis (Wilkinson; Higham, "Accuracy and Stability of
// Numerical Algorithms", section 3.3).
//
// A formula written with these gives, beside its value in float64, a bound on the distance of any result that a job may
// have computed by the same formula in its own precision: every operation adds the error that its operands bring along
// and one unit roundoff of its result. What a job computes more exactly (fused multiply-adds, a wider intermediate)
// stays inside the bound.
#pragma once

#include <cmath>

namespace plumbline::checks {

struct Bounded {
  double value = 0;
  double error = 0;
};

// One precision in which results are rounded.
struct Rounding {
  double unit = 0;   // relative, of a rounding to nearest
  double floor = 0;  // absolute, among the smallest numbers

  Bounded operator()(Bounded x) const { return {x.value, x.error + unit * (std::fabs(x.value) + x.error) + floor}; }
};

inline Bounded exact(double value) { return {value, 0}; }

inline Bounded operator-(Bounded a) { return {-a.value, a.error}; }
inline Bounded operator+(Bounded a, Bounded b) { return {a.value + b.value, a.error + b.error}; }
inline Bounded operator-(Bounded a, Bounded b) { return {a.value - b.value, a.error + b.error}; }
inline Bounded operator*(Bounded a, Bounded b) {
  return {a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error};
}

// The error is infinite where the divisor may be zero.
inline Bounded operator/(Bounded a, Bounded b) {
  const double quotient = a.value / b.value;
  const double least = std::fabs(b.value) - b.error;
  const double error = (a.error + std::fabs(quotient) * b.error) / least;
  return {quotient, least > 0 ? error : HUGE_VAL};
}

// Of what is not negative but for rounding.
inline Bounded square_root(Bounded a) {
  const double value = a.value > 0 ? a.value : 0;
  const double root = std::sqrt(value);
  const double least = value - a.error;
  // The root falls more steeply than it rises.
  const double fall = root + std::sqrt(least > 0 ? least : 0);
  return {root, fall > 0 ? a.error / fall : std::sqrt(a.error)};
}

inline Bounded larger(Bounded a, Bounded b) {
  return {a.value > b.value ? a.value : b.value, a.error > b.error ? a.error : b.error};
}

}  // namespace plumbline::checks
