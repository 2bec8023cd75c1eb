// Predicted elements against captured ones.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "checks/bounded.hpp"
#include "checks/optimizer_rules/rule.hpp"

namespace plumbline::checks {

struct TensorOutcome {
  std::size_t judged = 0;
  std::size_t beyond = 0;                  // elements outside of their bound
  std::size_t moving = 0;                  // should change
  std::size_t unmoved = 0;                 // of these: did not
  double moving_sum = 0, unmoved_sum = 0;  // by how much they should
  // Largest deviation over its bound, and where.
  double largest = 0;
  std::size_t place = 0;
  double expected = 0, actual = 0, bound = 0;
};

struct ParameterOutcome {
  TensorOutcome param;
  std::array<TensorOutcome, kMostStates> state;
  std::size_t decaying = 0;    // entries that weight decay alone should change
  std::size_t decay_lost = 0;  // of these: less than half a unit in the last place
  double leverage = 0;         // largest update over its bound
  std::size_t leverage_place = 0;
  bool non_finite = false;  // some gradient, state or parameter is

  bool agrees() const;
};

// Elements from `first` on of one tensor. `before` is empty where there was nothing, which counts as zeros. What the
// formula gives no finite number for is not judged.
void judge(TensorOutcome& outcome, std::size_t first, std::span<const Bounded> expected, std::span<const double> actual,
           std::span<const double> before);

void judge_leverage(ParameterOutcome& outcome, std::size_t first, std::span<const Bounded> expected,
                    std::span<const double> before);

// `decay`: the share of a parameter that weight decay takes away; `unit`: of a rounding in the parameter's dtype.
void judge_decay(ParameterOutcome& outcome, std::span<const double> before, double decay, double unit);

}  // namespace plumbline::checks
