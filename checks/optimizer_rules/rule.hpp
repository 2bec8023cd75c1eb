// How an optimizer computes a parameter and its state anew: the formulas of PyTorch 2.11, each with the bound that its
// roundings allow (checks/bounded.hpp).
//
//   const Rule* rule = rule_for("AdamW");
//   rule->step(inputs, predicted);
//
// Elements are a whole tensor or a sample of one, alike in all inputs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/bounded.hpp"

namespace plumbline::checks {

// Of a param group. What a rule does not know, it does not read.
struct RuleSettings {
  double lr = 0;
  double weight_decay = 0;
  bool maximize = false;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  bool amsgrad = false;
  bool decoupled = false;  // weight decay acts on the parameter, not through the gradient
  double momentum = 0, dampening = 0;
  bool nesterov = false;
  double alpha = 0.99;  // RMSprop
  bool centered = false;
  double lr_decay = 0, initial_accumulator = 0;         // Adagrad
  double momentum_decay = 4e-3;                         // NAdam
  double eps1 = 0, eps2 = 1e-3, d = 1;                  // Adafactor; eps1 of 0: as the dtype has it
  double beta2_decay = -0.8;                            // Adafactor
  std::array<double, 3> ns = {3.4445, -4.775, 2.0315};  // Muon
  int ns_steps = 5;
  bool match_rms = false;  // Muon's adjust_lr_fn
  // Coefficients such as 1 - beta are made on the device in the parameter's arithmetic, not in float64.
  bool coefficients_on_device = false;
};

// What a supposition about a fault changes.
struct Supposition {
  double gradient_factor = 1;
  bool bias_correction = true;
};

// The roundings of the job's arithmetic.
struct RuleRoundings {
  Rounding math;    // inside of one operation
  Rounding scalar;  // of a Python number that becomes an operand
  Rounding param;   // of what is stored, by where
  Rounding state;
  Rounding temporary;
};

constexpr std::size_t kMostStates = 4;

struct RuleInputs {
  RuleSettings settings;
  Supposition supposition;
  RuleRoundings roundings;
  double step = 1;                   // of the parameter, the first is 1
  double mu_product = 1;             // NAdam's, before
  bool first = false;                // there was no state before
  std::vector<std::uint64_t> shape;  // of the whole tensor
  std::span<const double> param;
  std::span<const double> grad;
  std::array<std::span<const double>, kMostStates> state;  // as Rule::states; empty: zeros
};

struct Predicted {
  std::vector<Bounded> param;
  std::array<std::vector<Bounded>, kMostStates> state;
};

struct Rule {
  std::string_view name;
  std::array<std::string_view, kMostStates> states;  // keys; those that the settings do not use are never read
  bool elementwise = true;                           // else it needs whole tensors
  // Which of `states` a step with these settings keeps.
  std::array<bool, kMostStates> (*uses)(const RuleSettings& settings);
  void (*step)(const RuleInputs& inputs, Predicted& predicted);

  std::size_t state_count() const {
    std::size_t count = 0;
    while (count < kMostStates && !states[count].empty()) ++count;
    return count;
  }
};

extern const Rule kSgd, kAdam, kAdamW, kAdagrad, kRmsProp, kLion, kNAdam, kRAdam, kAdafactor, kMuon;

// By the class's name; null when none is known for it.
const Rule* rule_for(std::string_view class_name);

// Shared by the rules: one element's gradient as the formula begins with it, and the number of elements.
inline double gradient_factor(const RuleInputs& in) {
  return in.settings.maximize ? -in.supposition.gradient_factor : in.supposition.gradient_factor;
}
inline double signed_gradient(const RuleInputs& in, std::size_t i) { return in.grad[i] * gradient_factor(in); }
inline double state_before(const RuleInputs& in, std::size_t which, std::size_t i) {
  return i < in.state[which].size() ? in.state[which][i] : 0;  // of no state, or one of another shape: zero
}

}  // namespace plumbline::checks
