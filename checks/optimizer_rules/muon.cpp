// Muon: torch/optim/_muon.py, _single_tensor_muon. The momentum buffer is exact to rounding. The orthogonalised update
// comes from matrix products in bfloat16, and its bound is no element-wise analysis, which would exceed the update
// itself: the iteration's polynomial keeps every singular value within 0.6 to 1.3 and has a slope of at most 2 there,
// so that a relative perturbation of each product by a few bfloat16 roundings moves the update by a share of its norm.
#include <algorithm>

#include "checks/optimizer_rules/rule.hpp"
#include "checks/optimizer_rules/terms.hpp"

namespace plumbline::checks {
namespace {

class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), values_(rows * columns) {}
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  double& at(std::size_t row, std::size_t column) { return values_[row * columns_ + column]; }
  double at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }

  double norm() const {
    double sum = 0;
    for (const double value : values_) sum += value * value;
    return std::sqrt(sum);
  }

  Matrix times(const Matrix& other) const {
    Matrix product(rows_, other.columns_);
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t k = 0; k < columns_; ++k) {
        const double factor = at(i, k);
        for (std::size_t j = 0; j < other.columns_; ++j) product.at(i, j) += factor * other.at(k, j);
      }
    }
    return product;
  }

  Matrix transposed() const {
    Matrix result(columns_, rows_);
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t j = 0; j < columns_; ++j) result.at(j, i) = at(i, j);
    }
    return result;
  }

  // this * a + other * b
  Matrix mixed(double a, const Matrix& other, double b) const {
    Matrix result(rows_, columns_);
    for (std::size_t i = 0; i < values_.size(); ++i) result.values_[i] = values_[i] * a + other.values_[i] * b;
    return result;
  }

 private:
  std::size_t rows_, columns_;
  std::vector<double> values_;
};

// _zeropower_via_newtonschulz
Matrix orthogonalized(Matrix x, const RuleSettings& s) {
  const bool tall = x.rows() > x.columns();
  if (tall) x = x.transposed();
  const double norm = std::max(x.norm(), s.eps);
  for (double& value : x.values()) value /= norm;
  for (int step = 0; step < s.ns_steps; ++step) {
    const Matrix gram = x.times(x.transposed());
    const Matrix update = gram.mixed(s.ns[1], gram.times(gram), s.ns[2]);
    x = x.mixed(s.ns[0], update.times(x), 1);
  }
  return tall ? x.transposed() : x;
}

void muon_step(const RuleInputs& in, Predicted& out) {
  const RuleSettings& s = in.settings;
  const RuleRoundings& r = in.roundings;
  const Terms terms(in);
  if (in.shape.size() != 2 || in.shape[0] * in.shape[1] != in.param.size()) return;
  Matrix update(in.shape[0], in.shape[1]);
  const Bounded fresh = terms.scalar(1 - s.momentum);
  const Bounded momentum = terms.scalar(s.momentum);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    const Bounded g = exact(signed_gradient(in, i));
    const Bounded buffer = lerp(r, exact(state_before(in, 0, i)), g, fresh);
    out.state[0][i] = buffer;
    update.values()[i] = s.nesterov ? lerp(r, g, buffer, momentum).value : buffer.value;
  }
  const Matrix direction = orthogonalized(update, s);
  const double rows = static_cast<double>(in.shape[0]);
  const double columns = static_cast<double>(in.shape[1]);
  const double ratio =
      s.match_rms ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
  const double root_mean_square = direction.norm() / std::sqrt(rows * columns);
  const double share = 0x1p-8 * 16 * s.ns_steps;
  const Bounded decay = terms.scalar(1 - s.lr * s.weight_decay);
  for (std::size_t i = 0; i < in.param.size(); ++i) {
    Bounded p = exact(in.param[i]);
    if (s.weight_decay != 0) p = r.param(p * decay);
    const double value = direction.values()[i];
    const Bounded moved{s.lr * ratio * value, s.lr * ratio * share * (std::fabs(value) + root_mean_square)};
    out.param[i] = r.param(p - r.temporary(moved));
  }
}

}  // namespace

const Rule kMuon{"Muon",
                 {"momentum_buffer"},
                 false,
                 [](const RuleSettings&) { return std::array<bool, kMostStates>{true}; },
                 muon_step};

}  // namespace plumbline::checks
