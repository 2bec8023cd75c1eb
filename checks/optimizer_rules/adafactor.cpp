// Adafactor: torch/optim/_adafactor.py, _single_tensor_adafactor. Norms and means over rows, columns and the whole
// tensor make it one that needs whole tensors.
#include <algorithm>
#include <numeric>

#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

enum State : std::size_t { kRowVar, kColVar, kVariance };

// The order of a sum is not known. Kernels add up in at least eight lanes, each of which loses one unit an addition.
Rounding summing(const RuleRoundings& r, std::size_t terms) {
  return {r.math.unit * (static_cast<double>(terms) / 8 + 16) + r.temporary.unit, r.temporary.floor};
}

Bounded root_mean_square(const RuleRoundings& r, const std::vector<Bounded>& values) {
  Bounded sum;
  for (const Bounded& value : values) sum = sum + value * value;
  const auto count = static_cast<double>(values.size());
  return summing(r, values.size())(square_root(sum * exact(1 / count)));
}

class Factored {
 public:
  // Matrices of rows x columns, as many as the leading dimensions say.
  explicit Factored(const RuleInputs& in) : in_(in), columns_(in.shape.back()), rows_(in.shape[in.shape.size() - 2]) {
    matrices_ = columns_ * rows_ > 0 ? in.param.size() / (columns_ * rows_) : 0;
  }

  void moments(Bounded weight, Predicted& out) const {
    out.state[kRowVar].assign(matrices_ * rows_, {});
    out.state[kColVar].assign(matrices_ * columns_, {});
    std::vector<double> by_row(matrices_ * rows_);
    std::vector<double> by_column(matrices_ * columns_);
    for (std::size_t m = 0; m < matrices_; ++m) {
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t column = 0; column < columns_; ++column) {
          const double g = signed_gradient(in_, (m * rows_ + row) * columns_ + column);
          by_row[m * rows_ + row] += g * g;
          by_column[m * columns_ + column] += g * g;
        }
      }
    }
    move(kRowVar, by_row, columns_, weight, out);
    move(kColVar, by_column, rows_, weight, out);
  }

  void estimate(double eps1, Predicted& out, std::vector<Bounded>& estimate) const {
    const RuleRoundings& r = in_.roundings;
    for (std::size_t m = 0; m < matrices_; ++m) {
      Bounded mean;
      for (std::size_t row = 0; row < rows_; ++row) mean = mean + out.state[kRowVar][m * rows_ + row];
      mean = summing(r, rows_)(mean * exact(1 / static_cast<double>(rows_)));
      mean = larger(mean, exact(eps1));
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t column = 0; column < columns_; ++column) {
          const Bounded product =
              r.temporary(out.state[kRowVar][m * rows_ + row] * out.state[kColVar][m * columns_ + column]);
          estimate[(m * rows_ + row) * columns_ + column] = r.temporary(product / mean);
        }
      }
    }
  }

 private:
  void move(State which, const std::vector<double>& sums, std::size_t terms, Bounded weight, Predicted& out) const {
    const RuleRoundings& r = in_.roundings;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      // The norm, its square, and the division are each stored.
      const Bounded norm = summing(r, terms)(square_root(exact(sums[i])));
      const Bounded mean = r.temporary(r.temporary(norm * norm) * exact(1 / static_cast<double>(terms)));
      out.state[which][i] = lerp(r, exact(state_before(in_, which, i)), mean, weight);
    }
  }

  const RuleInputs& in_;
  std::size_t columns_, rows_, matrices_;
};

void adafactor_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  // torch.finfo(dtype).eps, which is two roundings wide.
  const double eps1 = s.eps1 > 0 ? s.eps1 : 2 * r.param.unit;
  const Bounded weight = terms.scalar(std::pow(in.step, s.beta2_decay));
  const std::size_t count = in.param.size();
  std::vector<Bounded> estimate(count);
  std::vector<Bounded> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = exact(in.param[i]);
  const Bounded size = larger(exact(s.eps2), root_mean_square(r, values));
  const Bounded step_size = size * exact(std::min(s.lr, 1 / std::sqrt(in.step)));
  if (in.shape.size() > 1) {
    const Factored factored(in);
    factored.moments(weight, out);
    factored.estimate(eps1, out, estimate);
    out.state[kVariance].clear();
  } else {
    out.state[kVariance].resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Bounded g = exact(signed_gradient(in, i));
      out.state[kVariance][i] = lerp(r, exact(state_before(in, kVariance, i)), r.temporary(g * g), weight);
      estimate[i] = out.state[kVariance][i];
    }
    out.state[kRowVar].clear();
    out.state[kColVar].clear();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Bounded clamped = larger(estimate[i], exact(eps1 * eps1));
    const Bounded root = r.temporary(exact(1) / square_root(clamped));
    values[i] = r.temporary(root * exact(signed_gradient(in, i)));
  }
  const Bounded denominator = larger(exact(1), root_mean_square(r, values) * exact(1 / s.d));
  const Bounded scale = r.temporary(r.scalar(step_size / denominator));
  const Bounded decay = terms.scalar(1 - s.lr * s.weight_decay);
  for (std::size_t i = 0; i < count; ++i) {
    Bounded p = exact(in.param[i]);
    if (s.weight_decay != 0) p = r.param(p * decay);
    out.param[i] = r.param(p - r.math(scale * values[i]));
  }
}

}  // namespace

const Rule kAdafactor{"Adafactor",
                      {"row_var", "col_var", "variance"},
                      false,
                      [](const RuleSettings&) {
                        return std::array<bool, kMostStates>{true, true, true};
                      },
                      adafactor_step};

}  // namespace plumbline::checks
