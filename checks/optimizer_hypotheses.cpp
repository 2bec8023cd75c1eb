#include "checks/optimizer_hypotheses.hpp"

#include <fmt/format.h>

#include <cmath>

#include "checks/element_values.hpp"
#include "checks/optimizer_solve.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;

std::string factor_text(double factor) {
  const double whole = std::round(factor);
  const double part = std::round(1 / factor);
  if (std::fabs(factor - whole) < 1e-9 * std::fabs(factor)) return fmt::format("{:.0f}", factor);
  if (std::fabs(1 / factor - part) < 1e-9 * std::fabs(part)) return fmt::format("1/{:.0f}", part);
  return fmt::format("{:.4g}", factor);
}

class Explainer {
 public:
  Explainer(const ParameterData& data, const ParameterOutcome& outcome, const HypothesisContext& context)
      : data_(data), outcome_(outcome), context_(context) {}

  std::optional<Explanation> run() const {
    using Try = std::optional<Explanation> (Explainer::*)() const;
    // What changes least first: the first that fits is named.
    static constexpr Try kTries[] = {
        &Explainer::not_updated,   &Explainer::other_direction,   &Explainer::applied_twice,  &Explainer::no_correction,
        &Explainer::other_counter, &Explainer::other_decay,       &Explainer::other_coupling, &Explainer::other_rate,
        &Explainer::other_factor,  &Explainer::previous_gradient, &Explainer::new_state,      &Explainer::narrowed,
    };
    for (const Try one : kTries) {
      if (auto explanation = (this->*one)()) return explanation;
    }
    return std::nullopt;
  }

 private:
  bool state_agrees() const {
    for (const TensorOutcome& state : outcome_.state) {
      if (state.beyond > 0) return false;
    }
    return true;
  }

  bool fits(const Hypothesis& hypothesis) const { return evaluate(data_, hypothesis).agrees(); }

  std::optional<Explanation> not_updated() const {
    if (data_.after != data_.before) return std::nullopt;
    bool state_unchanged = true;
    bool has_state = false;
    for (std::size_t i = 0; i < kMostStates; ++i) {
      if (!data_.state_after[i].there()) continue;
      has_state = true;
      state_unchanged = state_unchanged && data_.state_after[i] == data_.state_before[i];
    }
    if (has_state && state_unchanged)
      return Explanation{"not updated",
                         "was left out of the step: neither it nor its state changed, though it has a "
                         "gradient",
                         "look for what leaves it out: a filter, a skipped group"};
    if (!state_agrees()) return std::nullopt;
    return Explanation{"not updated",
                       has_state ? "did not change, though its state did: the update went elsewhere, or was undone"
                                 : "did not change, though gradient and learning rate call for it",
                       "look whether the optimizer's result is copied back into this tensor"};
  }

  std::optional<Explanation> other_direction() const {
    Hypothesis against(data_);
    against.settings.maximize = !against.settings.maximize;
    if (!fits(against)) return std::nullopt;
    return Explanation{
        "direction",
        fmt::format("was moved {} the gradient, with maximize={}", data_.settings.maximize ? "against" : "along",
                    data_.settings.maximize ? "True" : "False"),
        "look for a sign in the loss or the optimizer"};
  }

  std::optional<Explanation> applied_twice() const {
    // Without a state it is the same as twice the learning rate; the state tells.
    Hypothesis twice(data_);
    twice.times = 2;
    if (!data_.uses[0] || !fits(twice)) return std::nullopt;
    return Explanation{"twice", "was updated twice in one step, from the same gradient",
                       "look for a second call of step(), or for a parameter that two groups hold"};
  }

  std::optional<Explanation> no_correction() const {
    if (!corrects_bias()) return std::nullopt;
    Hypothesis without(data_);
    without.supposition.bias_correction = false;
    if (!fits(without)) return std::nullopt;
    return Explanation{"no bias correction", "was updated without bias correction",
                       "switch bias correction on, or say so if it is meant", true};
  }

  bool corrects_bias() const {
    return data_.rule == &kAdam || data_.rule == &kAdamW || data_.rule == &kNAdam || data_.rule == &kRAdam;
  }

  std::optional<Explanation> other_counter() const {
    if (!corrects_bias() && data_.rule != &kAdafactor && data_.rule != &kAdagrad) return std::nullopt;
    const auto tried = [&](double step, const std::string& where) -> std::optional<Explanation> {
      if (step == data_.step || step < 1) return std::nullopt;
      Hypothesis other(data_);
      other.step = step;
      if (!fits(other)) return std::nullopt;
      return Explanation{"bias correction",
                         fmt::format("was updated with the bias correction of its step {:.0f}{}; its own counter says "
                                     "{:.0f}",
                                     step, where, data_.step),
                         "look at where the optimizer takes its step counter from"};
    };
    for (const KnownValue& counter : context_.counters) {
      if (auto found = tried(counter.value, fmt::format(", that of {}", counter.where))) return found;
    }
    for (const double step : {data_.step + 1, data_.step - 1, 1.0, data_.step + 2}) {
      if (auto found = tried(step, "")) return found;
    }
    return std::nullopt;
  }

  std::optional<Explanation> other_decay() const {
    Hypothesis without(data_);
    without.settings.weight_decay = 0;
    if (data_.settings.weight_decay != 0 && fits(without)) {
      return Explanation{
          "weight decay",
          fmt::format("was updated without weight decay; its group says {:g}", data_.settings.weight_decay),
          "look at how the optimizer reads the group's weight_decay", true};
    }
    if (data_.settings.lr == 0 || !state_agrees()) return std::nullopt;
    const auto at = [&](double decay) {
      Hypothesis one(data_);
      one.settings.weight_decay = decay;
      return one;
    };
    const Interval interval = solve(data_, at, 1);
    // A decay that explains the parameter must be told from a learning rate, which moves all of it.
    if (!interval.holds() || !(interval.low > 0) || !interval.narrow(0.5)) return std::nullopt;
    Hypothesis other(data_);
    other.settings.weight_decay = interval.middle();
    if (!fits(other)) return std::nullopt;
    return Explanation{"weight decay",
                       fmt::format("was updated with weight decay {:.3g}; its group says {:g}", interval.middle(),
                                   data_.settings.weight_decay),
                       "look at which group this parameter belongs to", true};
  }

  std::optional<Explanation> other_coupling() const {
    if (data_.settings.weight_decay == 0) return std::nullopt;
    Hypothesis other(data_);
    other.settings.decoupled = !other.settings.decoupled;
    if (!fits(other)) return std::nullopt;
    return Explanation{"weight decay kind",
                       data_.settings.decoupled ? "was updated with weight decay in the gradient rather than decoupled"
                                                : "was updated with decoupled weight decay rather than in the gradient",
                       "look at which of Adam and AdamW this optimizer means to be", true};
  }

  std::optional<Explanation> other_rate() const {
    if (!state_agrees() || data_.rule == &kAdafactor) return std::nullopt;
    const auto at = [&](double rate) {
      Hypothesis one(data_);
      one.settings.lr = rate;
      return one;
    };
    const Interval interval = solve(data_, at, data_.settings.lr != 0 ? data_.settings.lr : 1);
    if (!interval.holds() || !interval.narrow(1)) return std::nullopt;
    Hypothesis other(data_);
    other.settings.lr = interval.middle();
    if (!fits(other)) return std::nullopt;
    const double lr = data_.settings.lr;
    std::string words =
        fmt::format("was updated with learning rate {:.4g}; its group says {:g}", other.settings.lr, lr);
    for (const KnownValue& known : context_.learning_rates) {
      if (known.value == lr || !interval.contains(known.value)) continue;
      words = fmt::format("was updated with learning rate {:g}, that of {}; its group says {:g}", known.value,
                          known.where, lr);
      return Explanation{"learning rate", words, "look at where the optimizer takes its learning rate from"};
    }
    if (lr != 0) {
      const Interval ratio{std::min(interval.low / lr, interval.high / lr),
                           std::max(interval.low / lr, interval.high / lr), true};
      words += fmt::format(" ({} x)", factor_text(plain_value(ratio)));
    }
    return Explanation{"learning rate", words, "look at where the optimizer takes its learning rate from", true};
  }

  std::optional<Explanation> other_factor() const {
    const bool squared = data_.rule == &kAdagrad || data_.rule == &kRmsProp;
    const int state = data_.uses[0] && data_.state_after[0].there() ? 0 : -1;
    if (data_.rule == &kAdafactor) return std::nullopt;
    // A sum of squares depends linearly on the square of the factor.
    const auto at = [&](double x) {
      Hypothesis one(data_);
      one.supposition.gradient_factor = squared ? std::sqrt(std::max(x, 0.0)) : x;
      return one;
    };
    Interval interval = solve(data_, at, 1, state);
    if (!interval.holds() || !interval.narrow(0.5)) return std::nullopt;
    if (squared) {
      if (interval.low < 0) return std::nullopt;
      interval.low = std::sqrt(interval.low);
      interval.high = std::sqrt(interval.high);
    }
    Hypothesis other(data_);
    other.supposition.gradient_factor = plain_value(interval);
    if (!fits(other)) return std::nullopt;
    return Explanation{"gradient factor",
                       fmt::format("was updated by {} x the gradient that the step was given",
                                   factor_text(other.supposition.gradient_factor)),
                       "look for what scales gradients inside of the step: a loss scaler, clipping, a hook", true};
  }

  std::optional<Explanation> previous_gradient() const {
    const RawTensor* grad = context_.previous_grad;
    if (grad == nullptr || grad->count() != data_.grad.count() || *grad == data_.grad) return std::nullopt;
    Hypothesis stale(data_);
    stale.grad = grad;
    if (!fits(stale)) return std::nullopt;
    return Explanation{"previous gradient", "was updated by the gradient of the step before",
                       "look at where the optimizer keeps its gradients"};
  }

  std::optional<Explanation> new_state() const {
    if (data_.first) return std::nullopt;
    Hypothesis fresh(data_);
    fresh.new_state = true;
    Hypothesis restarted = fresh;
    restarted.step = 1;
    if (!fits(fresh) && !fits(restarted)) return std::nullopt;
    return Explanation{"new state", "was updated as if its optimizer state were new",
                       "look for what makes the state anew inside of the step"};
  }

  std::optional<Explanation> narrowed() const {
    for (const Dtype dtype : {Dtype::kBfloat16, Dtype::kFloat16}) {
      if (is_narrow(data_.after.dtype()) || !all_narrow(data_.after, dtype)) continue;
      Hypothesis rounded(data_);
      rounded.narrowed = dtype;
      if (!fits(rounded)) continue;
      return Explanation{"rounded",
                         fmt::format("holds numbers of {} after the step, in a {} tensor", reader::name_of(dtype),
                                     reader::name_of(data_.after.dtype())),
                         "look for a copy through a narrower tensor"};
    }
    return std::nullopt;
  }

  static bool all_narrow(const RawTensor& tensor, Dtype dtype) {
    std::vector<double> values;
    tensor.decode(0, tensor.count(), values);
    for (const double value : values) {
      if (std::isfinite(value) && rounded_to(dtype, value) != value) return false;
    }
    return true;
  }

  const ParameterData& data_;
  const ParameterOutcome& outcome_;
  const HypothesisContext& context_;
};

}  // namespace

std::optional<Explanation> explain(const ParameterData& data, const ParameterOutcome& outcome,
                                   const HypothesisContext& context) {
  return Explainer(data, outcome, context).run();
}

}  // namespace plumbline::checks
