#include "checks/master_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "checks/element_values.hpp"
#include "checks/optimizer_groups.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using ModelParameters = std::map<std::string, const Capture*>;

// The modules' own parameters, by the step that they were captured before.
std::map<const CapturedStep*, ModelParameters> model_parameters(const reader::RunCaptures& captures,
                                                                const std::vector<CapturedStep>& steps) {
  std::map<const Capture*, const CapturedStep*> by_note;
  for (const CapturedStep& step : steps) by_note[step.note] = &step;
  std::map<const CapturedStep*, ModelParameters> found;
  for (const reader::CaptureFile& file : captures.files()) {
    const CapturedStep* step = nullptr;
    for (const Capture& capture : file.captures()) {
      if (capture.probe == "optimizer.step") {
        const auto at = by_note.find(&capture);
        step = at != by_note.end() ? at->second : nullptr;
      } else if (capture.probe == "model.param" && step != nullptr) {
        found[step][capture.name] = &capture;
      }
    }
  }
  return found;
}

std::vector<double> rounded(std::vector<double> values, recorder::Dtype dtype) {
  for (double& value : values) value = rounded_to(dtype, value);
  return values;
}

// The one parameter of the step that begins with the values of the model's, in a wider type.
const CapturedParameter* master_of(CaptureLoader& loader, const CapturedStep& step, const Capture& model) {
  const std::vector<double> values = loader.values(&model);
  const CapturedParameter* master = nullptr;
  for (const CapturedParameter& parameter : step.parameters) {
    const Capture* before = parameter.param.before;
    if (before == nullptr || before->shape != model.shape || before->indices != model.indices) continue;
    if (unit_roundoff(before->dtype) >= unit_roundoff(model.dtype) || values.empty()) continue;
    if (rounded(loader.values(before), model.dtype) != values) continue;
    if (master != nullptr) return nullptr;
    master = &parameter;
  }
  return master;
}

void follow(CaptureLoader& loader, const std::vector<const CapturedStep*>& steps, const std::string& name,
            std::map<const CapturedStep*, ModelParameters>& models, Observations& into) {
  const Capture& first = *models.at(steps.front()).at(name);
  const CapturedParameter* master = master_of(loader, *steps.front(), first);
  if (master == nullptr) return;
  const std::vector<double> then = loader.values(&first);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const ModelParameters& here = models[steps[i]];
    const auto model = here.find(name);
    const CapturedParameter* now = steps[i]->find(master->name);
    if (model == here.end() || now == nullptr || now->param.before == nullptr) return;
    const std::vector<double> wanted = rounded(loader.values(now->param.before), first.dtype);
    const std::vector<double> held = loader.values(model->second);
    if (held != then || wanted.size() != held.size()) return;
    std::size_t behind = 0;
    for (std::size_t k = 0; k < held.size(); ++k) behind += held[k] != wanted[k] ? 1 : 0;
    if (behind == 0) continue;
    Observation one;
    one.kind = "master weights";
    one.rank = steps[i]->rank;
    one.step = steps[i]->step;
    one.tensor = name;
    one.words =
        fmt::format("is what it was at step {}, though the {} copy that is stepped has moved: it is not copied back",
                    steps.front()->step, reader::name_of(now->param.before->dtype));
    one.details.push_back(fmt::format("{} of {} captured elements of {}, rounded to {}, are others than the model's",
                                      behind, held.size(), master->name, reader::name_of(first.dtype)));
    one.next = "copy the master weights into the model after each step";
    one.component = component_of(*steps[i]);
    one.capture = model->second;
    into.add(std::move(one));
    return;
  }
}

}  // namespace

void examine_master_weights(const Subject& subject, CaptureLoader& loader, const std::vector<CapturedStep>& steps,
                            Observations& into) {
  auto models = model_parameters(subject.captures(), steps);
  std::map<std::pair<int, std::int64_t>, std::vector<const CapturedStep*>> optimizers;
  for (const CapturedStep& step : steps) {
    if (models.contains(&step)) optimizers[{step.rank, step.ordinal}].push_back(&step);
  }
  for (const auto& [place, of_optimizer] : optimizers) {
    for (const auto& [name, capture] : ModelParameters(models.at(of_optimizer.front())))
      follow(loader, of_optimizer, name, models, into);
  }
}

}  // namespace plumbline::checks
