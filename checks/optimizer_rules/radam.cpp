// RAdam: torch/optim/radam.py, _single_tensor_radam.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

void radam_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const Bounded correction1 = terms.bias_correction(s.beta1);
  const Bounded correction2 = terms.bias_correction(s.beta2);
  const double longest = 2 / (1 - s.beta2) - 1;
  const double length = longest - 2 * in.step * std::pow(s.beta2, in.step) / (1 - std::pow(s.beta2, in.step));
  const bool rectified = length > 5;
  const double rect =
      rectified ? std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) : 0;
  const Bounded adaptive = r.scalar(r.scalar(square_root(correction2)) * terms.scalar(s.lr * rect));
  const Bounded lr = terms.scalar(s.lr);
  const Bounded decay = terms.scalar(1 - s.lr * s.weight_decay);
  const Bounded weight_decay = terms.alpha(s.weight_decay);
  const Bounded fresh1 = terms.one_minus(s.beta1);
  const Bounded beta2 = terms.scalar(s.beta2);
  const Bounded fresh2 = terms.one_minus(s.beta2);
  const Bounded eps = terms.scalar(s.eps);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    Bounded p = exact(in.param[i]);
    Bounded g = exact(signed_gradient(in, i));
    decay_weights(in, decay, weight_decay, p, g);
    const Bounded m = lerp(r, exact(state_before(in, 0, i)), g, fresh1);
    const Bounded v = decayed_square(r, exact(state_before(in, 1, i)), g, beta2, fresh2);
    Bounded update = r.temporary(m / correction1);
    if (rectified) {
      const Bounded denominator = r.temporary(r.temporary(square_root(v)) + eps);
      update = r.temporary(r.temporary(update * adaptive) / denominator);
      update = r.temporary(r.temporary(update));  // rect and lr may be factors of their own
    } else {
      update = r.temporary(update * lr);
    }
    out.param[i] = r.param(p - update);
    out.state[0][i] = m;
    out.state[1][i] = v;
  }
}

}  // namespace

const Rule kRAdam{"RAdam",
                  {"exp_avg", "exp_avg_sq"},
                  true,
                  [](const RuleSettings&) {
                    return std::array<bool, kMostStates>{true, true};
                  },
                  radam_step};

}  // namespace plumbline::checks
