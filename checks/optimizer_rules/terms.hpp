// What several optimizers' formulas have in common.
#pragma once

#include <cmath>

#include "checks/optimizer_rules/rule.hpp"

namespace plumbline::checks {

class Terms {
 public:
  explicit Terms(const RuleInputs& in) : in_(in) {}

  // A Python number that becomes an operand of the job's arithmetic.
  Bounded scalar(double value) const { return in_.roundings.scalar(exact(value)); }

  // The `alpha` of an addition, which kernels on the CPU round to the tensors' own dtype.
  Bounded alpha(double value) const { return in_.roundings.temporary(exact(value)); }

  // 1 - beta, made in float64 and then rounded, or made on the device from the rounded beta, where its error is that
  // of beta and no longer small against 1 - beta.
  Bounded one_minus(double beta) const {
    const Bounded made = in_.settings.coefficients_on_device ? exact(1) - scalar(beta) : exact(1 - beta);
    return in_.roundings.scalar(made);
  }

  // 1 - beta^t. On the device the error of the rounded beta grows with t, and the power itself is good to a few units.
  Bounded bias_correction(double beta) const {
    if (!in_.supposition.bias_correction) return exact(1);
    const double power = std::pow(beta, in_.step);
    if (!in_.settings.coefficients_on_device) return exact(1 - power);
    const double unit = in_.roundings.scalar.unit;
    return in_.roundings.scalar(exact(1) - Bounded{power, (in_.step + 4) * unit * power});
  }

 private:
  const RuleInputs& in_;
};

// What Adam and its kin take of the settings, whatever step they make of the moments.
struct MomentTerms {
  MomentTerms(const Terms& terms, const RuleSettings& s)
      : decay(terms.scalar(1 - s.lr * s.weight_decay)),
        weight_decay(terms.alpha(s.weight_decay)),
        one_minus_beta1(terms.one_minus(s.beta1)),
        beta2(terms.scalar(s.beta2)),
        one_minus_beta2(terms.one_minus(s.beta2)),
        eps(terms.scalar(s.eps)) {}

  Bounded decay;  // 1 - lr * weight_decay
  Bounded weight_decay;
  Bounded one_minus_beta1;
  Bounded beta2;
  Bounded one_minus_beta2;
  Bounded eps;
};

// state + weight * (end - state), or the same in another order; stored.
inline Bounded lerp(const RuleRoundings& r, Bounded state, Bounded end, Bounded weight) {
  const Bounded moved = r.math(weight * r.math(end - state));
  const double reordered = r.math.unit * std::fabs(weight.value) * std::fabs(end.value);
  const Bounded sum = state + moved;
  return r.state({sum.value, sum.error + reordered});
}

// Weight decay before an update: of the parameter itself, or as a part of its gradient.
inline void decay_weights(const RuleInputs& in, Bounded kept, Bounded weight_decay, Bounded& param, Bounded& gradient) {
  if (in.settings.weight_decay == 0) return;
  const RuleRoundings& r = in.roundings;
  if (in.settings.decoupled) {
    param = r.param(param * kept);
  } else {
    gradient = r.temporary(gradient + r.math(param * weight_decay));
  }
}

// beta * state + (1 - beta) * gradient^2; stored after each of the two operations.
inline Bounded decayed_square(const RuleRoundings& r, Bounded state, Bounded gradient, Bounded beta,
                              Bounded one_minus_beta) {
  const Bounded kept = r.state(beta * state);
  return r.state(kept + r.math(one_minus_beta * r.math(gradient * gradient)));
}

// An element after weight decay, and its moments with its gradient.
struct Moments {
  Bounded param;
  Bounded gradient;
  Bounded m;
  Bounded v;
};

inline Moments moments_of(const RuleInputs& in, const MomentTerms& terms, std::size_t i) {
  const RuleRoundings& r = in.roundings;
  Moments now{exact(in.param[i]), exact(signed_gradient(in, i)), {}, {}};
  decay_weights(in, terms.decay, terms.weight_decay, now.param, now.gradient);
  now.m = lerp(r, exact(state_before(in, 0, i)), now.gradient, terms.one_minus_beta1);
  now.v = decayed_square(r, exact(state_before(in, 1, i)), now.gradient, terms.beta2, terms.one_minus_beta2);
  return now;
}

}  // namespace plumbline::checks
