// NAdam: torch/optim/nadam.py, _single_tensor_nadam.
#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

void nadam_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  const auto mu_at = [&](double step) { return s.beta1 * (1 - 0.5 * std::pow(0.96, step * s.momentum_decay)); };
  const double mu = mu_at(in.step);
  const double mu_next = mu_at(in.step + 1);
  // The product is kept in float32, whatever the parameter's dtype.
  const Rounding single{0x1p-24, 0};
  const Bounded product = single(exact(in.mu_product) * single(exact(mu)));
  const Bounded of_gradient = r.scalar(single(exact(s.lr * (1 - mu)) / single(exact(1) - product)));
  const Bounded of_average =
      r.scalar(single(exact(s.lr * mu_next) / single(exact(1) - single(product * single(exact(mu_next))))));
  const MomentTerms of_moments(terms, s);
  const Bounded correction = r.scalar(terms.bias_correction(s.beta2));
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const auto [param, g, m, v] = moments_of(in, of_moments, i);
    const Bounded denominator = r.temporary(r.temporary(square_root(r.temporary(v / correction))) + of_moments.eps);
    const Bounded p = r.param(param - r.math(r.temporary(of_gradient * g) / denominator));
    out.param[i] = r.param(p - r.math(r.temporary(of_average * m) / denominator));
    out.state[0][i] = m;
    out.state[1][i] = v;
  }
}

}  // namespace

const Rule kNAdam{"NAdam",
                  {"exp_avg", "exp_avg_sq"},
                  true,
                  [](const RuleSettings&) {
                    return std::array<bool, kMostStates>{true, true};
                  },
                  nadam_step};

}  // namespace plumbline::checks
