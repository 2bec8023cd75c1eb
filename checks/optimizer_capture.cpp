#include "checks/optimizer_capture.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

// Names to places, of one step while it is put together.
struct Assembly {
  CapturedStep step;
  std::map<std::string, std::size_t, std::less<>> places;
  std::map<std::size_t, std::string> group_details;

  CapturedParameter& parameter(const std::string& name) {
    const auto [at, made] = places.try_emplace(name, step.parameters.size());
    if (made) step.parameters.emplace_back().name = name;
    return step.parameters[at->second];
  }
};

void describe(CapturedParameter& parameter, const std::string& json) {
  if (json.empty()) return;
  const Detail detail(json);
  parameter.group = static_cast<std::size_t>(detail.number("group").value_or(0));
  if (detail.has("requires_grad")) parameter.requires_grad = detail.flag("requires_grad");
  if (detail.has("module")) parameter.module = detail.text("module");
}

// "state.exp_avg.before": the key, and which of the two.
bool state_probe(std::string_view probe, std::string& key, bool& before) {
  if (!probe.starts_with("state.")) return false;
  probe.remove_prefix(6);
  const std::size_t dot = probe.rfind('.');
  if (dot == std::string_view::npos) return false;
  key = probe.substr(0, dot);
  before = probe.substr(dot + 1) == "before";
  return before || probe.substr(dot + 1) == "after";
}

void take(const Capture& capture, Assembly& into) {
  const std::string& probe = capture.probe;
  std::string key;
  bool before = false;
  if (probe == "optimizer.step") {
    const Detail detail(capture.detail);
    into.step.note = &capture;
    into.step.class_name = detail.has("class") ? detail.text("class") : capture.name;
    into.step.module = detail.text("module");
    into.step.ordinal = static_cast<std::int64_t>(detail.number("optimizer").value_or(0));
    for (const auto& rank : detail.numbers("batch_ranks"))
      into.step.batch_ranks.push_back(static_cast<int>(rank.value_or(-1)));
  } else if (probe == "optimizer.group") {
    into.group_details[std::strtoull(capture.name.c_str(), nullptr, 10)] = capture.detail;
  } else if (probe == "param.before") {
    CapturedParameter& parameter = into.parameter(capture.name);
    parameter.param.before = &capture;
    describe(parameter, capture.detail);
  } else if (probe == "param.after") {
    into.parameter(capture.name).param.after = &capture;
  } else if (probe == "buffer") {
    into.step.buffers.push_back(&capture);
  } else if (probe == "grad") {
    CapturedParameter& parameter = into.parameter(capture.name);
    parameter.grad = &capture;
    describe(parameter, capture.detail);
  } else if (state_probe(probe, key, before)) {
    BeforeAfter& state = into.parameter(capture.name).state[key];
    (before ? state.before : state.after) = &capture;
  }
}

bool of_a_step(std::string_view probe) {
  return probe.starts_with("optimizer.") || probe.starts_with("param.") || probe == "grad" || probe == "buffer" ||
         probe.starts_with("state.");
}

void read_eps(const Detail& settings, RuleSettings& into) {
  const auto list = settings.numbers("eps");
  if (list.size() == 2) {
    into.eps1 = list[0].value_or(0);
    into.eps2 = list[1].value_or(into.eps2);
  } else {
    into.eps = settings.number("eps").value_or(into.eps);
  }
}

}  // namespace

const CapturedParameter* CapturedStep::find(std::string_view name) const {
  const auto at = std::find_if(parameters.begin(), parameters.end(),
                               [&](const CapturedParameter& parameter) { return parameter.name == name; });
  return at != parameters.end() ? &*at : nullptr;
}

CapturedGroup group_of(const std::string& class_name, const std::string& json) {
  CapturedGroup group;
  const Detail detail(json);
  const Detail settings = detail.object("settings");
  RuleSettings& s = group.settings;
  const auto number = [&](std::string_view key, double& into) { into = settings.number(key).value_or(into); };
  if (class_name == "Adagrad") s.eps = 1e-10;
  if (class_name == "Lion") s.beta2 = 0.99;
  s.decoupled = class_name == "AdamW" || class_name == "FusedAdam" || class_name == "DeepSpeedCPUAdam";
  number("lr", s.lr);
  number("weight_decay", s.weight_decay);
  if (const auto betas = settings.numbers("betas"); betas.size() >= 2) {
    s.beta1 = betas[0].value_or(s.beta1);
    s.beta2 = betas[1].value_or(s.beta2);
  }
  read_eps(settings, s);
  number("momentum", s.momentum);
  number("dampening", s.dampening);
  number("alpha", s.alpha);
  number("lr_decay", s.lr_decay);
  number("initial_accumulator_value", s.initial_accumulator);
  number("momentum_decay", s.momentum_decay);
  number("beta2_decay", s.beta2_decay);
  number("d", s.d);
  s.maximize = settings.flag("maximize");
  s.amsgrad = settings.flag("amsgrad");
  s.nesterov = settings.flag("nesterov");
  s.centered = settings.flag("centered");
  if (settings.has("decoupled_weight_decay")) s.decoupled = settings.flag("decoupled_weight_decay");
  if (const auto ns = settings.numbers("ns_coefficients"); ns.size() == 3) {
    for (std::size_t i = 0; i < 3; ++i) s.ns[i] = ns[i].value_or(s.ns[i]);
  }
  s.ns_steps = static_cast<int>(settings.number("ns_steps").value_or(s.ns_steps));
  s.match_rms = settings.text("adjust_lr_fn") == "match_rms_adamw";
  group.fused = settings.flag("fused");
  group.capturable = settings.flag("capturable");
  s.coefficients_on_device = group.fused || group.capturable;
  group.params = detail.texts("params");
  return group;
}

std::vector<CapturedStep> captured_steps(const reader::RunCaptures& captures) {
  // A key is an address, which another optimizer may have after the first one is gone: its notes tell them apart.
  std::map<std::tuple<int, std::uint64_t, std::int64_t, std::int64_t>, Assembly> steps;
  std::map<std::pair<int, std::uint64_t>, std::int64_t> ordinals;
  for (const reader::CaptureFile& file : captures.files()) {
    for (const Capture& capture : file.captures()) {
      if (capture.step < 0 || !of_a_step(capture.probe)) continue;
      std::int64_t& ordinal = ordinals[{capture.rank, capture.key}];
      if (capture.probe == "optimizer.step")
        ordinal = static_cast<std::int64_t>(Detail(capture.detail).number("optimizer").value_or(0));
      Assembly& assembly = steps[{capture.rank, capture.key, ordinal, capture.step}];
      assembly.step.rank = capture.rank;
      assembly.step.key = capture.key;
      assembly.step.step = capture.step;
      take(capture, assembly);
    }
  }
  std::vector<CapturedStep> result;
  for (auto& [place, assembly] : steps) {
    CapturedStep& step = assembly.step;
    for (const auto& [index, detail] : assembly.group_details) {
      if (index > 0xffff) continue;
      if (step.groups.size() <= index) step.groups.resize(index + 1);
      step.groups[index] = group_of(step.class_name, detail);
    }
    if (!step.parameters.empty()) result.push_back(std::move(step));
  }
  return result;
}

double state_number(reader::RunCaptures& captures, const Capture* capture) {
  std::vector<double> values;
  if (capture == nullptr || capture->elements() != 1) return std::nan("");
  if (!decode(capture->dtype, captures.load(*capture), values) || values.size() != 1) return std::nan("");
  return values.front();
}

}  // namespace plumbline::checks
