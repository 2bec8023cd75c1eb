#include "checks/optimizer_parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "checks/element_values.hpp"
#include "checks/optimizer_hypotheses.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

class Examiner {
 public:
  Examiner(const ParameterContext& context, const CapturedParameter& parameter)
      : context_(context), step_(*context.step), parameter_(parameter) {
    if (context.previous != nullptr) previous_ = context.previous->find(parameter.name);
  }

  ParameterExam run() {
    exam_.dtype = parameter_.any() != nullptr ? parameter_.any()->dtype : recorder::Dtype::kUnknown;
    if (parameter_.group < step_.groups.size()) exam_.fused = step_.groups[parameter_.group].fused;
    frozen();
    if (follows_directly()) since_last_step();
    if (context_.rule != nullptr) recompute();
    return std::move(exam_);
  }

 private:
  bool follows_directly() const { return previous_ != nullptr && context_.previous->step + 1 == step_.step; }

  void observe(std::string kind, std::string words, std::vector<std::string> details, std::string next,
               Status status = Status::kFail) {
    Observation one;
    one.kind = std::move(kind);
    one.status = status;
    one.rank = step_.rank;
    one.step = step_.step;
    one.tensor = parameter_.name;
    one.words = std::move(words);
    one.details = std::move(details);
    one.next = std::move(next);
    one.component = fmt::format("{}, optimizer {}", step_.class_name, step_.ordinal);
    one.capture = parameter_.any();
    exam_.observations.push_back(std::move(one));
  }

  bool same_places(const Capture* a, const Capture* b) const {
    return a != nullptr && b != nullptr && a->dtype == b->dtype && a->shape == b->shape && a->indices == b->indices &&
           a->captured() == b->captured() && a->captured() > 0;
  }

  // Nothing is known where it was not captured alike.
  std::optional<bool> same(const Capture* a, const Capture* b) {
    if (a != nullptr && b != nullptr && a->hash_kind != reader::CaptureHash::kNone && a->hash_kind == b->hash_kind &&
        a->dtype == b->dtype && a->shape == b->shape)
      return a->hash == b->hash;
    if (!same_places(a, b)) return std::nullopt;
    return context_.loader->load(a) == context_.loader->load(b);
  }

  void frozen() {
    if (parameter_.requires_grad || !parameter_.complete()) return;
    if (same(parameter_.param.before, parameter_.param.after).value_or(true)) return;
    const double decay =
        parameter_.group < step_.groups.size() ? step_.groups[parameter_.group].settings.weight_decay : 0;
    std::vector<std::string> details;
    if (parameter_.grad == nullptr) details.emplace_back("it has no gradient");
    if (decay != 0) details.push_back(fmt::format("its group has weight decay {:g}", decay));
    observe("frozen", "changed in the step, though it requires no gradient", std::move(details),
            "give the optimizer only the parameters that require a gradient, or clear .grad when freezing");
  }

  // Between the end of the last step and the beginning of this one nothing may touch what the optimizer keeps.
  void since_last_step() {
    if (same(previous_->param.after, parameter_.param.before) == false) {
      observe("changed between",
              fmt::format("is not what step {} left: something wrote to it between the steps", step_.step - 1),
              difference(previous_->param.after, parameter_.param.before),
              "look for what writes parameters outside of the optimizer: a load, an average, a copy, a clamp",
              Status::kInconclusive);
    }
    for (const auto& [key, state] : previous_->state) {
      if (state.after == nullptr) continue;
      const auto now = parameter_.state.find(key);
      const bool missing = now == parameter_.state.end() || now->second.before == nullptr;
      // A step that captured no state at all says nothing about this one.
      if (missing && !any_state_before()) {
        if (step_captured_state()) state_missing(key);
      } else if (missing) {
        state_missing(key);
      } else if (same(state.after, now->second.before) == false || state.after->dtype != now->second.before->dtype) {
        state_changed(key, state.after, now->second.before);
      }
    }
  }

  bool any_state_before() const {
    return std::any_of(parameter_.state.begin(), parameter_.state.end(),
                       [](const auto& one) { return one.second.before != nullptr; });
  }

  bool step_captured_state() const {
    return std::any_of(parameter_.state.begin(), parameter_.state.end(),
                       [](const auto& one) { return one.second.after != nullptr; });
  }

  void state_missing(const std::string& key) {
    observe("state missing", fmt::format("has lost its state {} since step {}", key, step_.step - 1), {},
            "look for a new optimizer, or a load_state_dict without it");
  }

  void state_changed(const std::string& key, const Capture* then, const Capture* now) {
    std::vector<double> a;
    std::vector<double> b;
    const RawTensor old_bytes = context_.loader->load(then);
    const RawTensor new_bytes = context_.loader->load(now);
    old_bytes.decode(0, old_bytes.count(), a);
    new_bytes.decode(0, new_bytes.count(), b);
    const bool zero = !b.empty() && std::all_of(b.begin(), b.end(), [](double value) { return value == 0; });
    std::string words = fmt::format("has another {} than step {} left", key, step_.step - 1);
    std::string kind = "state changed";
    if (key == "step" && a.size() == 1 && b.size() == 1) {
      words = fmt::format("has step counter {:g} before the step; step {} left {:g}", b[0], step_.step - 1, a[0]);
      kind = "counter changed";
    } else if (zero) {
      words =
          fmt::format("has {} of zeros before the step: its state was made anew since step {}", key, step_.step - 1);
      kind = "state reset";
    } else if (const std::string narrow = narrow_name(a, b); !narrow.empty()) {
      words = fmt::format("has its {} rounded to {} since step {}", key, narrow, step_.step - 1);
      kind = "state rounded";
    }
    observe(kind, words, difference(then, now),
            "look for what writes the optimizer's state between steps: a load, an offload, a copy");
  }

  // "bfloat16" when the new numbers are the old ones, rounded.
  static std::string narrow_name(const std::vector<double>& then, const std::vector<double>& now) {
    if (then.size() != now.size() || then.empty()) return {};
    for (const recorder::Dtype narrow :
         {recorder::Dtype::kBfloat16, recorder::Dtype::kFloat16, recorder::Dtype::kFloat32}) {
      bool all = true;
      for (std::size_t i = 0; i < then.size() && all; ++i) all = rounded_to(narrow, then[i]) == now[i];
      if (all) return std::string(reader::name_of(narrow));
    }
    return {};
  }

  std::vector<std::string> difference(const Capture* then, const Capture* now) {
    const RawTensor a = context_.loader->load(then);
    const RawTensor b = context_.loader->load(now);
    if (a.count() != b.count() || a.count() == 0) return {};
    std::vector<double> x;
    std::vector<double> y;
    a.decode(0, a.count(), x);
    b.decode(0, b.count(), y);
    std::size_t changed = 0;
    std::size_t worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      changed += x[i] != y[i] ? 1 : 0;
      if (std::fabs(x[i] - y[i]) > std::fabs(x[worst] - y[worst])) worst = i;
    }
    return {fmt::format("{} of {} captured elements differ, the most by {:.3g} ({:.9g}, then {:.9g})", changed,
                        x.size(), std::fabs(x[worst] - y[worst]), x[worst], y[worst])};
  }

  void recompute() {
    auto data = load_parameter(*context_.loader, step_, parameter_, *context_.rule, exam_.why_not);
    if (!data) return;
    exam_.recomputed = true;
    exam_.bytes = data->bytes();
    counters(*data);
    exam_.outcome = evaluate_as_set(*data);
    if (!data->readable()) {
      exam_.recomputed = false;
      exam_.outcome = {};
      exam_.why_not = "their elements can no longer be read: the file has changed";
      return;
    }
    if (skipped_for_overflow(*data)) {
      exam_.outcome = {};
      return;
    }
    if (exam_.outcome.agrees()) return;
    data->hold();
    deviates(*data);
  }

  // A fused step that a loss scaler told to do nothing.
  bool skipped_for_overflow(const ParameterData& data) const {
    return exam_.outcome.non_finite && data.before == data.after;
  }

  void counters(const ParameterData& data) {
    exam_.counter = data.counter_before;
    if (std::isfinite(data.counter_before) && std::isfinite(data.counter_after) &&
        data.counter_after != data.counter_before + 1) {
      observe("counter step",
              fmt::format("has its step counter at {:g} before and {:g} after one step", data.counter_before,
                          data.counter_after),
              {}, "look at how the counter is kept: its dtype, or who else writes it");
    }
    const RawTensor& moment = data.state_before[0];
    if (!std::isfinite(data.counter_before) || !moment.there() || data.rule == &kAdagrad) return;
    const bool empty = moment.all_zero();
    if (data.counter_before == 0 && !empty) {
      observe(
          "counter reset",
          fmt::format("has step counter 0, though its {} holds the gradients of earlier steps", data.rule->states[0]),
          {"bias correction takes the first step for the beginning: the update is scaled wrongly"},
          "restore the step counter together with the moments");
    } else if (data.counter_before > 0) {
      exam_.empty_moment = empty && !data.grad.all_zero();
      exam_.held_moment = !empty;
    }
  }

  void deviates(const ParameterData& data) {
    HypothesisContext hypotheses;
    for (std::size_t i = 0; i < step_.groups.size(); ++i) {
      if (i != parameter_.group)
        hypotheses.learning_rates.push_back({step_.groups[i].settings.lr, fmt::format("group {}", i)});
    }
    RawTensor previous_grad;
    if (context_.previous != nullptr) {
      const CapturedStep& before = *context_.previous;
      if (parameter_.group < before.groups.size())
        hypotheses.learning_rates.push_back(
            {before.groups[parameter_.group].settings.lr, fmt::format("step {}", before.step)});
      if (previous_ != nullptr) previous_grad = context_.loader->load(previous_->grad);
      if (previous_grad.there()) hypotheses.previous_grad = &previous_grad;
    }
    other_counters(data, hypotheses);
    const auto explanation = explain(data, exam_.outcome, hypotheses);
    // Of a class whose formula is only supposed by its name, a deviation may be the formula's.
    const bool may_be_meant = !step_.of_torch() && (!explanation || explanation->of_formula);
    const Status status = may_be_meant ? Status::kInconclusive : Status::kFail;
    std::vector<std::string> details = {deviation_text(data)};
    if (may_be_meant)
      details.push_back(fmt::format("{} of {} may have a formula of its own", step_.class_name, step_.module));
    if (explanation) {
      observe(explanation->kind, explanation->words, std::move(details), explanation->next, status);
    } else {
      observe("deviation", "is not what gradient, state and settings give", std::move(details),
              "compare with the formula of the optimizer in use", status);
    }
  }

  void other_counters(const ParameterData& data, HypothesisContext& into) const {
    for (auto at = step_.parameters.rbegin(); at != step_.parameters.rend() && into.counters.size() < 4; ++at) {
      const auto counter = at->state.find("step");
      if (counter == at->state.end() || at->name == parameter_.name) continue;
      const double value = context_.loader->number(counter->second.after);
      const bool known = std::any_of(into.counters.begin(), into.counters.end(),
                                     [&](const KnownValue& one) { return one.value == value; });
      if (std::isfinite(value) && value != data.step && !known) into.counters.push_back({value, at->name});
    }
  }

  std::string deviation_text(const ParameterData& data) const {
    const TensorOutcome* worst = &exam_.outcome.param;
    std::string what = "the parameter";
    for (std::size_t i = 0; i < kMostStates; ++i) {
      if (worst->beyond > 0 || exam_.outcome.state[i].beyond == 0) continue;
      worst = &exam_.outcome.state[i];
      what = std::string(data.rule->states[i]);
    }
    return fmt::format(
        "{} of {} elements of {} are outside of their bound, the worst at {}: {:.9g}, expected {:.9g} "
        "within {:.2g}",
        worst->beyond, worst->judged, what, worst->place, worst->actual, worst->expected, worst->bound);
  }

  const ParameterContext& context_;
  const CapturedStep& step_;
  const CapturedParameter& parameter_;
  const CapturedParameter* previous_ = nullptr;
  ParameterExam exam_;
};

}  // namespace

void UpdateShare::add(const ParameterOutcome& outcome) {
  moving += outcome.param.moving;
  unmoved += outcome.param.unmoved;
  moving_sum += outcome.param.moving_sum;
  unmoved_sum += outcome.param.unmoved_sum;
  decaying += outcome.decaying;
  decay_lost += outcome.decay_lost;
}

ParameterExam examine(const ParameterContext& context, const CapturedParameter& parameter) {
  return Examiner(context, parameter).run();
}

}  // namespace plumbline::checks
