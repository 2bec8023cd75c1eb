// Adam and AdamW: torch/optim/adam.py, _single_tensor_adam and _multi_tensor_adam; fused: ATen/native/cuda/
// fused_adam_utils.cuh, adam_math. AdamW is Adam with decoupled_weight_decay.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

enum State : std::size_t { kExpAvg, kExpAvgSq, kMaxExpAvgSq };

struct Coefficients {
  Bounded decay;  // 1 - lr * weight_decay
  Bounded weight_decay;
  Bounded one_minus_beta1;
  Bounded beta2;
  Bounded one_minus_beta2;
  Bounded step_size;        // lr / (1 - beta1^t)
  Bounded correction_root;  // sqrt(1 - beta2^t)
  Bounded eps;
};

Coefficients coefficients_of(const RuleInputs& in) {
  const RuleSettings& s = in.settings;
  const Terms terms(in);
  Coefficients c;
  c.decay = terms.scalar(1 - s.lr * s.weight_decay);
  c.weight_decay = terms.alpha(s.weight_decay);
  c.one_minus_beta1 = terms.one_minus(s.beta1);
  c.beta2 = terms.scalar(s.beta2);
  c.one_minus_beta2 = terms.one_minus(s.beta2);
  c.step_size = in.roundings.scalar(terms.scalar(s.lr) / terms.bias_correction(s.beta1));
  c.correction_root = in.roundings.scalar(square_root(terms.bias_correction(s.beta2)));
  c.eps = terms.scalar(s.eps);
  return c;
}

template <bool kDecoupled, bool kDecays, bool kAmsgrad>
void adam_elements(const RuleInputs& in, Predicted& out) {
  const Coefficients c = coefficients_of(in);
  const RuleRoundings& r = in.roundings;
  const std::size_t count = in.param.size();
  for (std::size_t i = 0; i < count; ++i) {
    Bounded g = exact(signed_gradient(in, i));
    Bounded p = exact(in.param[i]);
    if constexpr (kDecays && kDecoupled) p = r.param(p * c.decay);
    if constexpr (kDecays && !kDecoupled) g = r.temporary(g + r.math(p * c.weight_decay));
    const Bounded m = lerp(in.roundings, exact(state_before(in, kExpAvg, i)), g, c.one_minus_beta1);
    const Bounded v =
        decayed_square(in.roundings, exact(state_before(in, kExpAvgSq, i)), g, c.beta2, c.one_minus_beta2);
    Bounded second = v;
    if constexpr (kAmsgrad) {
      second = larger(exact(state_before(in, kMaxExpAvgSq, i)), v);
      out.state[kMaxExpAvgSq][i] = second;
    }
    const Bounded root = r.temporary(square_root(second));
    const Bounded denominator = r.temporary(r.temporary(root / c.correction_root) + c.eps);
    const Bounded update = r.math(c.step_size * r.math(m / denominator));
    out.param[i] = r.param(p - update);
    out.state[kExpAvg][i] = m;
    out.state[kExpAvgSq][i] = v;
  }
}

template <bool kDecoupled, bool kDecays>
void adam_amsgrad(const RuleInputs& in, Predicted& out) {
  in.settings.amsgrad ? adam_elements<kDecoupled, kDecays, true>(in, out)
                      : adam_elements<kDecoupled, kDecays, false>(in, out);
}

void adam_step(const RuleInputs& in, Predicted& out) {
  if (in.settings.weight_decay == 0) {
    adam_amsgrad<false, false>(in, out);
  } else if (in.settings.decoupled) {
    adam_amsgrad<true, true>(in, out);
  } else {
    adam_amsgrad<false, true>(in, out);
  }
}

std::array<bool, kMostStates> adam_uses(const RuleSettings& settings) { return {true, true, settings.amsgrad}; }

}  // namespace

const Rule kAdam{"Adam", {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, true, adam_uses, adam_step};
const Rule kAdamW{"AdamW", {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, true, adam_uses, adam_step};

}  // namespace plumbline::checks
