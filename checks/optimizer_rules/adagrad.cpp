// Adagrad: torch/optim/adagrad.py, _single_tensor_adagrad.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

void adagrad_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const Bounded lr = r.scalar(terms.scalar(s.lr / (1 + (in.step - 1) * s.lr_decay)));
  const Bounded weight_decay = terms.alpha(s.weight_decay);
  const Bounded eps = terms.scalar(s.eps);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const Bounded p = exact(in.param[i]);
    Bounded g = exact(signed_gradient(in, i));
    if (s.weight_decay != 0) g = r.temporary(g + r.math(p * weight_decay));
    const Bounded before = exact(in.first ? s.initial_accumulator : state_before(in, 0, i));
    const Bounded sum = r.state(before + r.math(g * g));
    const Bounded denominator = r.temporary(r.temporary(square_root(sum)) + eps);
    out.state[0][i] = sum;
    out.param[i] = r.param(p - r.math(lr * r.math(g / denominator)));
  }
}

}  // namespace

const Rule kAdagrad{
    "Adagrad", {"sum"}, true, [](const RuleSettings&) { return std::array<bool, kMostStates>{true}; }, adagrad_step};

}  // namespace plumbline::checks
