#include "checks/optimizer_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

// Of the entries that should change, from which share on it is a fault that they do not, and a doubt.
constexpr double kLostFault = 1.0 / 3;
constexpr double kLostDoubt = 0.1;

Observation observation(const CapturedStep& step, std::string kind, std::string words, Status status) {
  Observation one;
  one.kind = std::move(kind);
  one.status = status;
  one.rank = step.rank;
  one.step = step.step;
  one.words = std::move(words);
  one.component = component_of(step);
  one.capture = step.note;
  return one;
}

bool is_norm(std::string_view module) { return module.find("Norm") != std::string_view::npos; }

// One dimension, as captured tensors of a parameter have it.
bool is_vector(const CapturedParameter& parameter) {
  const Capture* capture = parameter.any();
  return capture != nullptr && capture->global_shape.size() <= 1 && parameter.module != "Embedding";
}

struct GroupKinds {
  std::size_t vectors = 0, matrices = 0, norms = 0;
};

std::string_view state_in(const CapturedStep& step, recorder::Dtype dtype) {
  for (const CapturedParameter& parameter : step.parameters) {
    for (const auto& [key, state] : parameter.state) {
      if (key != "step" && state.after != nullptr && state.after->dtype == dtype) return key;
    }
  }
  return {};
}

}  // namespace

std::string component_of(const CapturedStep& step) {
  return fmt::format("{}, optimizer {}", step.class_name, step.ordinal);
}

std::vector<std::string> without_gradient(std::span<const CapturedStep> steps) {
  std::vector<std::string> names;
  if (steps.size() < 2) return names;
  std::set<std::string, std::less<>> with_gradient;
  for (const CapturedStep& step : steps) {
    for (const CapturedParameter& parameter : step.parameters) {
      if (parameter.grad != nullptr) with_gradient.insert(parameter.name);
    }
  }
  for (const CapturedParameter& parameter : steps.front().parameters) {
    if (!parameter.requires_grad || with_gradient.contains(parameter.name)) continue;
    // Sharded, a rank may hold none of it.
    if (parameter.any() != nullptr && parameter.any()->elements() > 0) names.push_back(parameter.name);
  }
  return names;
}

bool examine_detached(std::span<const CapturedStep> steps, const std::string& name, Observations& into) {
  for (const CapturedStep& step : steps) {
    const std::string next = step.note == nullptr ? "" : Detail(step.note->detail).object("detached").text(name);
    const bool others = std::any_of(step.parameters.begin(), step.parameters.end(),
                                    [](const CapturedParameter& one) { return one.grad != nullptr; });
    if (next.empty() || !others) continue;
    Observation one = observation(
        step, "detached",
        fmt::format("gets no gradient: its module ran, and {} was given the result without its graph", next),
        Status::kFail);
    one.tensor = name;
    one.details.emplace_back("it has none in any captured step, while other parameters have one");
    one.next = "look for detach(), .data or no_grad between the two modules; or freeze the parameter if it is meant";
    into.add(std::move(one));
    return true;
  }
  return false;
}

void examine_decay(const CapturedStep& step, Observations& into) {
  std::vector<GroupKinds> kinds(step.groups.size());
  for (const CapturedParameter& parameter : step.parameters) {
    if (parameter.group >= kinds.size() || parameter.any() == nullptr) continue;
    GroupKinds& kind = kinds[parameter.group];
    ++(is_vector(parameter) ? kind.vectors : kind.matrices);
    if (is_norm(parameter.module)) ++kind.norms;
  }
  // Only a division into a group with and one without weight decay tells what was meant.
  GroupKinds decayed;
  GroupKinds spared;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    GroupKinds& into_kind = step.groups[i].settings.weight_decay != 0 ? decayed : spared;
    into_kind.vectors += kinds[i].vectors;
    into_kind.matrices += kinds[i].matrices;
    into_kind.norms += kinds[i].norms;
  }
  if (spared.vectors + spared.matrices == 0 || decayed.vectors + decayed.matrices == 0) return;
  if (spared.matrices > 0 && spared.vectors == 0 && decayed.vectors > 0 && decayed.matrices == 0) {
    Observation one = observation(
        step, "decay swapped",
        "the groups' weight decay is swapped: vectors (biases, norms) are decayed, matrices are not", Status::kFail);
    one.details.push_back(
        fmt::format("with weight decay: {} vectors; without: {} matrices", decayed.vectors, spared.matrices));
    one.next = "give the weight decay to the group of matrices";
    into.add(std::move(one));
    return;
  }
  if (spared.matrices > 0 || spared.vectors == 0 || decayed.vectors == 0) return;
  // One group spares vectors alone, yet others of their kind are decayed.
  for (const CapturedParameter& parameter : step.parameters) {
    if (parameter.group >= step.groups.size() || step.groups[parameter.group].settings.weight_decay == 0) continue;
    if (!is_vector(parameter) || !(is_norm(parameter.module) || parameter.name.ends_with("bias"))) continue;
    Observation one =
        observation(step, "decay group",
                    fmt::format("is decayed by {:g}, though a group without weight decay holds {} other vectors",
                                step.groups[parameter.group].settings.weight_decay, spared.vectors),
                    is_norm(parameter.module) && spared.norms == 0 ? Status::kInconclusive : Status::kFail);
    one.tensor = parameter.name;
    one.capture = parameter.any();
    one.next = "look at the names or shapes by which parameters are divided into groups";
    into.add(std::move(one));
  }
}

void examine_lost_updates(const CapturedStep& step, const UpdateShares& shares, Observations& into,
                          LossRemarks& remarks) {
  double lr = 0;
  for (const CapturedGroup& group : step.groups) lr = std::max(lr, group.settings.lr);
  for (const auto& [dtype, share] : shares) {
    if (share.moving == 0) continue;
    const std::string dtype_name(reader::name_of(dtype));
    if (share.share() >= kLostFault && share.weight() >= kLostFault) {
      Observation one = observation(
          step, "lost updates " + dtype_name,
          fmt::format(
              "{:.1f} % of the entries of {} parameters did not change although their update is not zero (lr {:g})",
              share.share() * 100, dtype_name, lr),
          Status::kFail);
      one.details.push_back(
          fmt::format("each update is less than half a unit in the last place of its parameter; by "
                      "size, {:.1f} % of the update was lost",
                      share.weight() * 100));
      if (share.decaying > 0)
        one.details.push_back(
            fmt::format("weight decay alone is lost in {:.1f} % of the entries", share.decay_share() * 100));
      if (const auto key = state_in(step, dtype); !key.empty() && is_narrow(dtype))
        one.details.push_back(fmt::format("the optimizer's state is {} too, {} among it", dtype_name, key));
      one.next = "keep float32 master weights, or round stochastically";
      into.add(std::move(one));
    } else if (share.share() >= kLostDoubt && share.weight() >= kLostDoubt) {
      remarks.try_emplace(
          component_of(step) + " " + dtype_name,
          fmt::format("whether a part of the updates may be lost: in step {} of {}, {:.1f} % of the entries of {} "
                      "parameters that should change did not (lr {:g})",
                      step.step, component_of(step), share.share() * 100, dtype_name, lr));
    } else if (is_narrow(dtype) && share.decaying > 0 && share.decay_share() >= 0.9) {
      remarks.try_emplace(
          "decay " + dtype_name,
          fmt::format("whether weight decay may be without effect: of {} parameters it is less than half a "
                      "unit in the last place of nearly all entries",
                      dtype_name));
    }
  }
}

}  // namespace plumbline::checks
