#include "checks/head_logits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kTf32Unit = 0x1p-11;

// The first argument of these names that is there.
double argument(const Detail& arguments, std::initializer_list<std::string_view> names, double otherwise) {
  for (const std::string_view name : names) {
    if (const auto value = arguments.number(name)) return *value;
  }
  return otherwise;
}

recorder::Dtype dtype_named(const std::string& name, recorder::Dtype otherwise) {
  if (name == "bfloat16") return recorder::Dtype::kBfloat16;
  if (name == "float16") return recorder::Dtype::kFloat16;
  return otherwise;
}

// Arguments that change more than settings say, where they are not zero.
constexpr auto kChanging =
    std::to_array<std::string_view>({"lse_square_scale", "z_loss", "z_loss_weight", "use_token_scaling", "shift",
                                     "vocab_start_index", "alpha", "beta"});

}  // namespace

HeadSettings head_settings(const Detail& detail) {
  HeadSettings settings;
  const Detail arguments = detail.object("arguments");
  settings.ignore_index = argument(arguments, {"ignore_index"}, settings.ignore_index);
  settings.label_smoothing = argument(arguments, {"label_smoothing"}, 0);
  settings.scale = argument(arguments, {"logit_scale", "logits_scale"}, 1);
  settings.softcap = argument(arguments, {"softcap", "final_logit_softcapping", "logit_softcapping"}, 0);
  settings.temperature = argument(arguments, {"temperature"}, 1);
  if (arguments.has("reduction")) settings.reduction = arguments.text("reduction");
  for (const std::string_view name : kChanging) {
    if (arguments.number(name).value_or(0) != 0) settings.unknown.emplace_back(name);
  }
  for (std::string& name : detail.texts("more")) settings.unknown.push_back(std::move(name));
  return settings;
}

HeadLogits::HeadLogits(const RawTensor& hidden, const RawTensor& weight, const RawTensor& bias, std::size_t width,
                       const HeadSettings& settings, const Detail& detail)
    : hidden_(hidden),
      width_(width),
      classes_(weight.count() / width),
      settings_(settings),
      computed_(dtype_named(detail.text("autocast"), hidden.dtype())),
      product_unit_(detail.flag("tf32") ? 2 * kTf32Unit : 0) {
  read(weight, 0, weight.count(), weight_);
  if (bias.there()) read(bias, 0, bias.count(), bias_);
  for (std::size_t c = 0; c < classes_; ++c) {
    double square = 0;
    for (std::size_t i = 0; i < width_; ++i) square += weight_[c * width_ + i] * weight_[c * width_ + i];
    longest_ = std::max(longest_, std::sqrt(square));
  }
}

void HeadLogits::read(const RawTensor& from, std::size_t first, std::size_t count, std::vector<double>& values) const {
  from.decode(first, count, values);
  if (from.dtype() == computed_ || !is_narrow(computed_)) return;
  for (double& value : values) value = rounded_to(computed_, value);
}

double HeadLogits::row(std::size_t row, std::vector<double>& logits) {
  read(hidden_, row * width_, width_, values_);
  double square = 0;
  for (const double value : values_) square += value * value;
  logits.resize(classes_);
  double most = 0;
  for (std::size_t c = 0; c < classes_; ++c) {
    const double* const weights = weight_.data() + c * width_;
    double sum = 0;
    for (std::size_t i = 0; i < width_; ++i) sum += values_[i] * weights[i];
    if (!bias_.empty()) sum += bias_[c];
    most = std::max(most, std::fabs(sum));
    logits[c] = sum;
  }
  // The products' magnitudes add up to at most the product of the norms; a narrow result is rounded as the sum is
  // stored, and again with the bias, where parts of the sum may have been stored as well.
  double bound = std::sqrt(square) * longest_ * (kUnit * (static_cast<double>(width_) / 8 + 16) + product_unit_) +
                 4 * unit_roundoff(computed_) * most;
  bound *= std::fabs(settings_.scale);
  for (double& logit : logits) {
    logit *= settings_.scale;
    if (settings_.softcap > 0) logit = settings_.softcap * std::tanh(logit / settings_.softcap);
    logit /= settings_.temperature;
  }
  bound += 8 * kUnit * (std::fabs(settings_.scale) * most + settings_.softcap);
  return bound / std::fabs(settings_.temperature);
}

}  // namespace plumbline::checks
