// RMSprop: torch/optim/rmsprop.py, _single_tensor_rmsprop.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

enum State : std::size_t { kSquareAvg, kGradAvg, kMomentumBuffer };

void rmsprop_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const Bounded lr = s.momentum > 0 ? terms.alpha(s.lr) : terms.scalar(s.lr);
  const Bounded weight_decay = terms.alpha(s.weight_decay);
  const Bounded alpha = terms.scalar(s.alpha);
  const Bounded fresh = terms.one_minus(s.alpha);
  const Bounded momentum = terms.scalar(s.momentum);
  const Bounded eps = terms.scalar(s.eps);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const Bounded p = exact(in.param[i]);
    Bounded g = exact(signed_gradient(in, i));
    if (s.weight_decay != 0) g = r.temporary(g + r.math(p * weight_decay));
    const Bounded square = decayed_square(r, exact(state_before(in, kSquareAvg, i)), g, alpha, fresh);
    out.state[kSquareAvg][i] = square;
    Bounded variance = square;
    if (s.centered) {
      const Bounded mean = lerp(r, exact(state_before(in, kGradAvg, i)), g, fresh);
      out.state[kGradAvg][i] = mean;
      variance = r.temporary(square - r.math(mean * mean));
    }
    const Bounded denominator = r.temporary(r.temporary(square_root(variance)) + eps);
    Bounded update = r.math(g / denominator);
    if (s.momentum > 0) {
      update = r.state(r.state(exact(state_before(in, kMomentumBuffer, i)) * momentum) + update);
      out.state[kMomentumBuffer][i] = update;
    }
    out.param[i] = r.param(p - r.math(lr * update));
  }
}

std::array<bool, kMostStates> rmsprop_uses(const RuleSettings& s) { return {true, s.centered, s.momentum > 0}; }

}  // namespace

const Rule kRmsProp{"RMSprop", {"square_avg", "grad_avg", "momentum_buffer"}, true, rmsprop_uses, rmsprop_step};

}  // namespace plumbline::checks
