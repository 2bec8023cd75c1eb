#include "checks/optimizer_recompute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks/element_values.hpp"
#include "checks/optimizer_judge.hpp"
#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kChunk = 4096;
// Matrix products of a larger one would take minutes.
constexpr std::uint64_t kMostMuonWork = 4'000'000'000;

Rounding rounding_of(recorder::Dtype dtype) {
  // The prediction is itself rounded in float64.
  const double unit = dtype == recorder::Dtype::kFloat64 ? 0x1p-52 : unit_roundoff(dtype);
  return {unit, underflow_error(dtype)};
}

Rounding coarser(Rounding a, Rounding b) { return {std::max(a.unit, b.unit), std::max(a.floor, b.floor)}; }

RuleRoundings roundings_of(const ParameterData& data, const Hypothesis& hypothesis) {
  RuleRoundings r;
  r.param = rounding_of(data.before.dtype());
  r.temporary = coarser(r.param, rounding_of(hypothesis.grad->dtype()));
  // Kernels compute in float32 what is stored narrower.
  const bool wide = data.before.dtype() == recorder::Dtype::kFloat64;
  r.math = wide ? r.param : Rounding{0x1p-24, 0x1p-126};
  r.scalar = {r.math.unit, 0};
  r.state = r.param;
  for (std::size_t i = 0; i < kMostStates; ++i) {
    const RawTensor& state = data.state_after[i].there() ? data.state_after[i] : data.state_before[i];
    if (!state.there()) continue;
    r.state = rounding_of(state.dtype());
    r.temporary = coarser(r.temporary, r.state);
  }
  if (hypothesis.narrowed != recorder::Dtype::kUnknown) {
    r.param = coarser(r.param, rounding_of(hypothesis.narrowed));
    r.state = coarser(r.state, rounding_of(hypothesis.narrowed));
  }
  return r;
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// Feeds a first application's results into a second one.
void apply_again(RuleInputs& in, Predicted& predicted, std::vector<double>& param,
                 std::array<std::vector<double>, kMostStates>& state, const Rule& rule) {
  const Predicted once = predicted;
  for (std::size_t i = 0; i < param.size(); ++i) param[i] = once.param[i].value;
  for (std::size_t s = 0; s < kMostStates; ++s) {
    state[s].resize(once.state[s].size());
    for (std::size_t i = 0; i < state[s].size(); ++i) state[s][i] = once.state[s][i].value;
    in.state[s] = state[s];
  }
  in.param = param;
  in.first = false;
  in.step += 1;
  rule.step(in, predicted);
  for (std::size_t i = 0; i < param.size(); ++i) predicted.param[i].error += once.param[i].error * 2;
  for (std::size_t s = 0; s < kMostStates; ++s) {
    for (std::size_t i = 0; i < std::min(predicted.state[s].size(), once.state[s].size()); ++i)
      predicted.state[s][i].error += once.state[s][i].error;
  }
}

}  // namespace

std::vector<RawTensor*> ParameterData::tensors() {
  std::vector<RawTensor*> all{&grad, &before, &after};
  for (std::size_t i = 0; i < kMostStates; ++i) {
    all.push_back(&state_before[i]);
    all.push_back(&state_after[i]);
  }
  return all;
}

std::uint64_t ParameterData::bytes() const {
  std::uint64_t bytes = grad.bytes() + before.bytes() + after.bytes();
  for (std::size_t i = 0; i < kMostStates; ++i) bytes += state_before[i].bytes() + state_after[i].bytes();
  return bytes;
}

void ParameterData::hold() {
  for (RawTensor* tensor : tensors()) tensor->hold();
}

bool ParameterData::readable() const {
  bool all = grad.readable() && before.readable() && after.readable();
  for (std::size_t i = 0; i < kMostStates; ++i) all = all && state_before[i].readable() && state_after[i].readable();
  return all;
}

std::optional<ParameterData> load_parameter(CaptureLoader& loader, const CapturedStep& step,
                                            const CapturedParameter& parameter, const Rule& rule, std::string& why) {
  if (!parameter.complete() || parameter.grad == nullptr) return std::nullopt;
  if (parameter.group >= step.groups.size()) {
    why = "the settings of its group were not captured";
    return std::nullopt;
  }
  ParameterData data;
  data.parameter = &parameter;
  data.rule = &rule;
  data.settings = step.groups[parameter.group].settings;
  data.shape = parameter.param.before->shape;
  data.uses = rule.uses(data.settings);
  const auto tensor = [&](const Capture* capture) {
    return rule.elementwise ? loader.stream(capture) : loader.load(capture);
  };
  data.grad = tensor(parameter.grad);
  data.before = tensor(parameter.param.before);
  data.after = tensor(parameter.param.after);
  const std::size_t count = data.before.count();
  // Sharded, a rank may hold none of it.
  if (parameter.param.before->elements() == 0) return std::nullopt;
  if (!is_floating(data.before.dtype()) || !is_floating(data.grad.dtype())) {
    why = "its dtype is not a real floating-point one";
    return std::nullopt;
  }
  if (count == 0 || data.after.count() != count || data.grad.count() != count ||
      parameter.param.before->indices != parameter.param.after->indices ||
      parameter.param.before->indices != parameter.grad->indices) {
    why = "parameter and gradient were not captured in the same places";
    return std::nullopt;
  }
  if (!rule.elementwise && count != parameter.param.before->elements()) {
    why = fmt::format("{} needs whole tensors, and this one was sampled", rule.name);
    return std::nullopt;
  }
  if (&rule == &kMuon && data.shape.size() == 2 && count * std::min(data.shape[0], data.shape[1]) > kMostMuonWork) {
    why = "it is too large for Muon's matrix products here";
    return std::nullopt;
  }
  bool any_before = false;
  for (std::size_t i = 0; i < rule.state_count(); ++i) {
    const auto at = parameter.state.find(rule.states[i]);
    if (!data.uses[i] || at == parameter.state.end()) continue;
    data.state_before[i] = tensor(at->second.before);
    data.state_after[i] = tensor(at->second.after);
    any_before = any_before || data.state_before[i].there();
    const bool fits = !rule.elementwise || ((!data.state_before[i].there() || data.state_before[i].count() == count) &&
                                            (!data.state_after[i].there() || data.state_after[i].count() == count));
    if (!fits || (data.state_after[i].there() && !is_floating(data.state_after[i].dtype()))) {
      why = fmt::format("its state {} is not kept as {} keeps it", rule.states[i], rule.name);
      return std::nullopt;
    }
  }
  const auto number = [&](std::string_view key, bool before) {
    const auto at = parameter.state.find(key);
    if (at == parameter.state.end()) return std::nan("");
    return loader.number(before ? at->second.before : at->second.after);
  };
  data.counter_before = number("step", true);
  data.counter_after = number("step", false);
  const double product = number("mu_product", true);
  if (std::isfinite(product)) data.mu_product = product;
  data.first = !any_before;
  if (std::isfinite(data.counter_before)) {
    data.step = data.counter_before + 1;
  } else if (std::isfinite(data.counter_after)) {
    data.step = data.counter_after;
  } else {
    data.step = static_cast<double>(step.step + 1);
  }
  return data;
}

bool ParameterOutcome::agrees() const {
  return param.beyond == 0 &&
         std::all_of(state.begin(), state.end(), [](const TensorOutcome& one) { return one.beyond == 0; });
}

void predict(const ParameterData& data, const Hypothesis& hypothesis, const ChunkVisit& visit) {
  const std::size_t count = data.before.count();
  const std::size_t chunk = data.rule->elementwise ? kChunk : count;
  RuleInputs in;
  in.settings = hypothesis.settings;
  in.supposition = hypothesis.supposition;
  in.roundings = roundings_of(data, hypothesis);
  in.mu_product = data.mu_product;
  in.shape = data.shape;
  std::vector<double> param;
  std::vector<double> grad;
  std::array<std::vector<double>, kMostStates> state;
  Predicted predicted;
  for (std::size_t first = 0; first < count; first += chunk) {
    const std::size_t here = std::min(chunk, count - first);
    data.before.decode(first, here, param);
    hypothesis.grad->decode(first, here, grad);
    in.step = hypothesis.step;
    in.first = data.first || hypothesis.new_state;
    in.param = param;
    in.grad = grad;
    predicted.param.resize(here);
    for (std::size_t s = 0; s < kMostStates; ++s) {
      in.state[s] = {};
      if (!data.uses[s]) continue;
      predicted.state[s].resize(here);
      const RawTensor& before = data.state_before[s];
      if (!before.there() || hypothesis.new_state) continue;
      data.rule->elementwise ? before.decode(first, here, state[s]) : before.decode(0, before.count(), state[s]);
      in.state[s] = state[s];
    }
    data.rule->step(in, predicted);
    for (unsigned again = 1; again < hypothesis.times; ++again) apply_again(in, predicted, param, state, *data.rule);
    visit(in, predicted, first);
  }
}

ParameterOutcome evaluate(const ParameterData& data, const Hypothesis& hypothesis) {
  ParameterOutcome outcome;
  std::vector<double> room;
  std::vector<double> actual;
  // What a rule was given is what was captured, but for a second application and a state that is supposed to be new.
  const bool inputs_captured = hypothesis.times == 1 && !hypothesis.new_state;
  const auto before_of = [&](const RawTensor& tensor, std::span<const double> given, std::size_t first,
                             std::size_t count) -> std::span<const double> {
    if (inputs_captured && given.size() == count) return given;
    tensor.decode(first, count, room);
    return room;
  };
  const double unit = unit_roundoff(data.before.dtype());
  const RuleSettings& settings = hypothesis.settings;
  const double decay = settings.decoupled ? std::fabs(settings.lr * settings.weight_decay) : 0;
  predict(data, hypothesis, [&](const RuleInputs& in, const Predicted& predicted, std::size_t first) {
    const std::size_t count = predicted.param.size();
    const std::span<const double> param = before_of(data.before, in.param, first, count);
    data.after.decode(first, count, actual);
    outcome.non_finite = outcome.non_finite || !all_finite(in.grad) || !all_finite(param);
    judge(outcome.param, first, predicted.param, actual, param);
    judge_leverage(outcome, first, predicted.param, param);
    if (decay > 0) judge_decay(outcome, param, decay, unit);
    for (std::size_t s = 0; s < kMostStates; ++s) {
      const RawTensor& after = data.state_after[s];
      const std::vector<Bounded>& expected = predicted.state[s];
      if (!after.there() || expected.empty() || after.count() < first + expected.size()) continue;
      after.decode(first, expected.size(), actual);
      std::span<const double> before;
      if (data.state_before[s].there()) before = before_of(data.state_before[s], in.state[s], first, expected.size());
      judge(outcome.state[s], first, expected, actual, before);
    }
  });
  return outcome;
}

ParameterOutcome evaluate_as_set(ParameterData& data) {
  ParameterOutcome as_set = evaluate(data, Hypothesis(data));
  if (as_set.agrees() || data.settings.coefficients_on_device) return as_set;
  Hypothesis on_device(data);
  on_device.settings.coefficients_on_device = true;
  ParameterOutcome outcome = evaluate(data, on_device);
  if (!outcome.agrees()) return as_set;
  data.settings.coefficients_on_device = true;
  return outcome;
}

}  // namespace plumbline::checks
