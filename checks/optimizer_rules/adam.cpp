// Adam and AdamW: torch/optim/adam.py, _single_tensor_adam and _multi_tensor_adam; fused: ATen/native/cuda/
// fused_adam_utils.cuh, adam_math. AdamW is Adam with decoupled_weight_decay.
#include "checks/optimizer_rules/blocks.hpp"
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"
#include "checks/vector_clones.hpp"

namespace plumbline::checks {
namespace {

enum State : std::size_t { kExpAvg, kExpAvgSq, kMaxExpAvgSq };

struct Coefficients : MomentTerms {
  using MomentTerms::MomentTerms;
  Bounded step_size;        // lr / (1 - beta1^t)
  Bounded correction_root;  // sqrt(1 - beta2^t)
};

Coefficients coefficients_of(const RuleInputs& in) {
  const RuleSettings& s = in.settings;
  const Terms terms(in);
  Coefficients c(terms, s);
  c.step_size = in.roundings.scalar(terms.scalar(s.lr) / terms.bias_correction(s.beta1));
  c.correction_root = in.roundings.scalar(square_root(terms.bias_correction(s.beta2)));
  return c;
}

struct Block {
  Column param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq;
  BoundedColumn new_param, new_exp_avg, new_exp_avg_sq, new_max_exp_avg_sq;
};

template <bool kDecoupled, bool kDecays, bool kAmsgrad>
void adam_block(const Coefficients& c, const RuleRoundings& r, double gradient_factor, Block& b) {
  for (std::size_t i = 0; i < kBlockElements; ++i) {
    Bounded g = exact(b.grad[i] * gradient_factor);
    Bounded p = exact(b.param[i]);
    if constexpr (kDecays && kDecoupled) p = r.param(p * c.decay);
    if constexpr (kDecays && !kDecoupled) g = r.temporary(g + r.math(p * c.weight_decay));
    const Bounded m = lerp(r, exact(b.exp_avg[i]), g, c.one_minus_beta1);
    const Bounded v = decayed_square(r, exact(b.exp_avg_sq[i]), g, c.beta2, c.one_minus_beta2);
    Bounded second = v;
    if constexpr (kAmsgrad) {
      second = larger(exact(b.max_exp_avg_sq[i]), v);
      b.new_max_exp_avg_sq.set(i, second);
    }
    const Bounded root = r.temporary(square_root(second));
    const Bounded denominator = r.temporary(r.temporary(root / c.correction_root) + c.eps);
    const Bounded update = r.math(c.step_size * r.math(m / denominator));
    b.new_param.set(i, r.param(p - update));
    b.new_exp_avg.set(i, m);
    b.new_exp_avg_sq.set(i, v);
  }
}

template <bool kDecoupled, bool kDecays, bool kAmsgrad>
void adam_elements(const RuleInputs& in, Predicted& out) {
  const Coefficients c = coefficients_of(in);
  const RuleRoundings r = in.roundings;
  const double factor = gradient_factor(in);
  Block block;
  for (std::size_t first = 0; first < in.param.size(); first += kBlockElements) {
    fill(block.param, in.param, first);
    fill(block.grad, in.grad, first);
    fill(block.exp_avg, in.state[kExpAvg], first);
    fill(block.exp_avg_sq, in.state[kExpAvgSq], first);
    if constexpr (kAmsgrad) fill(block.max_exp_avg_sq, in.state[kMaxExpAvgSq], first);
    adam_block<kDecoupled, kDecays, kAmsgrad>(c, r, factor, block);
    block.new_param.store(block_of(out.param, first));
    block.new_exp_avg.store(block_of(out.state[kExpAvg], first));
    block.new_exp_avg_sq.store(block_of(out.state[kExpAvgSq], first));
    if constexpr (kAmsgrad) block.new_max_exp_avg_sq.store(block_of(out.state[kMaxExpAvgSq], first));
  }
}

template <bool kDecoupled, bool kDecays>
void adam_amsgrad(const RuleInputs& in, Predicted& out) {
  in.settings.amsgrad ? adam_elements<kDecoupled, kDecays, true>(in, out)
                      : adam_elements<kDecoupled, kDecays, false>(in, out);
}

PLUMBLINE_VECTOR_CLONES void adam_step(const RuleInputs& in, Predicted& out) {
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
