#include "checks/testing/toy_training.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace plumbline::checks::testing {
namespace {

std::vector<float> drawn(std::mt19937& random, std::size_t count, double scale) {
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>(scale * (static_cast<double>(random()) / std::mt19937::max() * 2 - 1));
  return values;
}

void capture(CaptureJob& job, const ToyTraining& toy, const ToyParameter& parameter, int step,
             const std::string& when) {
  TensorPlace place;
  place.detail = fmt::format(R"({{"group":{},"requires_grad":{},"module":"{}"}})", parameter.group,
                             parameter.requires_grad, parameter.module);
  place.replicas = toy.replicas;
  place.hashed = toy.hashed;
  const std::vector<std::uint64_t> shape{parameter.values.size() / 4, 4};
  const auto put = [&](const std::string& probe, const std::vector<float>& values) {
    job.tensor(probe, parameter.name, step, Dtype::kFloat32, shape, bytes_of(values), place);
  };
  if (when == "before" && parameter.has_grad) put("grad", parameter.grad);
  put("param." + when, parameter.values);
  if (parameter.m.empty()) return;
  put("state.exp_avg." + when, parameter.m);
  put("state.exp_avg_sq." + when, parameter.v);
  job.tensor("state.step." + when, parameter.name, step, Dtype::kFloat64, {},
             bytes_of(std::vector<double>{parameter.counter}), place);
}

}  // namespace

std::vector<ToyParameter> ToyTraining::parameters() const {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<ToyParameter> result(2);
  result[0].name = "layer.weight";
  result[0].values = drawn(random, elements, 0.5);
  result[1].name = "head.weight";
  result[1].values = drawn(random, elements / 2, 0.5);
  return result;
}

void ToyTraining::update(int step, ToyParameter& p) const {
  const bool faulty = step >= fault_from && (fault_in.empty() || fault_in == p.name);
  const double rate = faulty && lr_used != 0 ? lr_used : lr;
  const double decay = faulty && weight_decay_used >= 0 ? weight_decay_used : weight_decay;
  if (p.m.empty()) {
    p.m.assign(p.values.size(), 0);
    p.v.assign(p.values.size(), 0);
  }
  for (int time = 0; time < (faulty ? times : 1); ++time) {
    p.counter += 1;
    const double t = p.counter + (faulty ? correction_offset : 0);
    const bool corrects = !faulty || corrects_bias;
    const auto correction = [&](double beta) {
      if (!corrects) return 1.0;
      return in_float32 ? 1 - std::pow(static_cast<float>(beta), static_cast<float>(t)) : 1 - std::pow(beta, t);
    };
    const double correction1 = correction(beta1);
    const double correction2 = correction(beta2);
    for (std::size_t i = 0; i < p.values.size(); ++i) {
      const float g = p.grad[i] * static_cast<float>(faulty ? gradient_factor : 1);
      p.values[i] *= static_cast<float>(1 - rate * decay);
      p.m[i] += static_cast<float>(1 - beta1) * (g - p.m[i]);
      p.v[i] = p.v[i] * static_cast<float>(beta2) + static_cast<float>(1 - beta2) * (g * g);
      const float denominator =
          std::sqrt(p.v[i]) / static_cast<float>(std::sqrt(correction2)) + static_cast<float>(eps);
      p.values[i] += static_cast<float>(-rate / correction1) * (p.m[i] / denominator);
    }
  }
  if (times > 1 && faulty) p.counter -= times - 1;
}

void ToyTraining::write(const std::string& directory) const {
  CaptureJob job(directory, rank);
  std::vector<ToyParameter> model = parameters();
  std::mt19937 random(static_cast<unsigned>(data_seed));
  for (int step = 0; step < steps; ++step) {
    if (step >= from)
      job.step_note(step - from, "AdamW",
                    {fmt::format(R"({{"settings":{{"lr":{},"weight_decay":{},"betas":[{},{}],"eps":{}}},"params":[]}})",
                                 lr, weight_decay, beta1, beta2, eps)},
                    module, batch_ranks);
    for (ToyParameter& parameter : model) {
      parameter.grad = drawn(random, parameter.values.size(), 0.1);
      before_step(step, parameter);
      if (step >= from) capture(job, *this, parameter, step - from, "before");
    }
    for (ToyParameter& parameter : model) {
      if (parameter.has_grad) update(step, parameter);
      after_update(step, parameter);
      if (step >= from) capture(job, *this, parameter, step - from, "after");
    }
  }
  job.finish();
}

}  // namespace plumbline::checks::testing
