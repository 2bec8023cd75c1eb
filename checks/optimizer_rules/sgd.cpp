// SGD: torch/optim/sgd.py, _single_tensor_sgd.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

void sgd_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const Bounded lr = terms.alpha(s.lr);
  const Bounded weight_decay = terms.alpha(s.weight_decay);
  const Bounded momentum = terms.alpha(s.momentum);
  const Bounded fresh = terms.alpha(1 - s.dampening);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const Bounded p = exact(in.param[i]);
    Bounded g = exact(signed_gradient(in, i));
    if (s.weight_decay != 0) g = r.temporary(g + r.math(p * weight_decay));
    if (s.momentum != 0) {
      // The first gradient becomes the buffer as it is.
      const Bounded buffer =
          in.first ? r.state(g) : r.state(r.state(exact(state_before(in, 0, i)) * momentum) + r.math(g * fresh));
      out.state[0][i] = buffer;
      g = s.nesterov ? r.temporary(g + r.math(buffer * momentum)) : buffer;
    }
    out.param[i] = r.param(p - r.math(g * lr));
  }
}

}  // namespace

const Rule kSgd{"SGD",
                {"momentum_buffer"},
                true,
                [](const RuleSettings& s) { return std::array<bool, kMostStates>{s.momentum != 0}; },
                sgd_step};

}  // namespace plumbline::checks
