// Lion (Chen and others, "Symbolic Discovery of Optimization Algorithms", algorithm 2), as its implementations for
// PyTorch have it: decoupled weight decay, the sign of an interpolation by beta1, and a momentum by beta2.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

// The sign of what may be of either sign is anything from -1 to 1.
Bounded sign_of(Bounded x) {
  if (x.error > 0 && x.error >= std::fabs(x.value)) return {0, 1};
  return exact(x.value > 0 ? 1 : x.value < 0 ? -1 : 0);
}

void lion_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const Bounded lr = terms.alpha(s.lr);
  const Bounded decay = terms.scalar(1 - s.lr * s.weight_decay);
  const Bounded beta1 = terms.scalar(s.beta1);
  const Bounded beta2 = terms.scalar(s.beta2);
  const Bounded fresh1 = terms.one_minus(s.beta1);
  const Bounded fresh2 = terms.alpha(1 - s.beta2);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const Bounded g = exact(signed_gradient(in, i));
    const Bounded m = exact(state_before(in, 0, i));
    Bounded p = exact(in.param[i]);
    if (s.weight_decay != 0) p = r.param(p * decay);
    const Bounded mixed = r.temporary(r.temporary(m * beta1) + r.temporary(g * fresh1));
    out.param[i] = r.param(p - r.math(lr * sign_of(mixed)));
    out.state[0][i] = r.state(r.state(m * beta2) + r.temporary(g * fresh2));
  }
}

}  // namespace

const Rule kLion{
    "Lion", {"exp_avg"}, true, [](const RuleSettings&) { return std::array<bool, kMostStates>{true}; }, lion_step};

}  // namespace plumbline::checks
