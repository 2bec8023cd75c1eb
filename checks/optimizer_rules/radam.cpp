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
  const MomentTerms of_moments(terms, s);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const auto [p, g, m, v] = moments_of(in, of_moments, i);
    Bounded update = r.temporary(m / correction1);
    if (rectified) {
      const Bounded denominator = r.temporary(r.temporary(square_root(v)) + of_moments.eps);
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
