#include "shim/torch/operator_probes.hpp"

#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/graph_task.h>

#include <cstring>
#include <exception>
#include <string_view>

#include "recorder/json_text.hpp"
#include "shim/torch/capture_tensor.hpp"
#include "shim/torch/loss_gradients.hpp"
#include "shim/torch/module_path.hpp"
#include "shim/torch/probe_window.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::json_text;
using Values = c10::ArrayRef<const c10::IValue>;

struct Place {
  std::string name;  // of the operator
  std::string probe;
  bool output;
  int index;  // -1: the first tensor
};
std::vector<Place>& places() {
  static auto* const list = new std::vector<Place>;
  return *list;
}

// Losses are made of operators that are losses too: only the outermost is the job's own.
thread_local int open_losses = 0;
thread_local LossPlace outermost_loss;

// What a compiler traces has no elements; the code that it makes runs later, and is what trains.
bool is_traced() {
  return c10::impl::TorchDispatchModeTLS::get_mode(c10::impl::TorchDispatchModeKey::FAKE).has_value();
}

bool in_backward() { return torch::autograd::get_current_graph_task_id() != -1; }

const at::Tensor* tensor_at(const Values& values, int index) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (index >= 0 && i != static_cast<std::size_t>(index)) continue;
    if (values[i].isTensor() && values[i].toTensor().defined()) return &values[i].toTensor();
  }
  return nullptr;
}

void capture(const at::Tensor& tensor, const char* probe, const OperatorProbe& open, const std::string& detail) {
  CaptureTarget target;
  target.probe = probe;
  target.name = open.name;
  target.step = open.step;
  target.occurrence = open.occurrence;
  target.detail = detail;
  if (capture_tensor(tensor, target)) count_probe(target.probe);
}

const char* reduction_name(const c10::IValue& value) {
  switch (value.isInt() ? value.toInt() : -1) {
    case 0:
      return "none";
    case 1:
      return "mean";
    case 2:
      return "sum";
    default:
      return "?";
  }
}

std::string detail_of_loss(const Values& in, const OperatorProbe& open, bool smoothing) {
  std::string text = "{\"function\":" + json_text(open.name) + ",\"reduction\":\"" + reduction_name(in[3]) + "\"";
  if (in[4].isInt()) text += ",\"ignore_index\":" + std::to_string(in[4].toInt());
  text += ",\"label_smoothing\":" + (smoothing && in[5].isDouble() ? std::to_string(in[5].toDouble()) : "0.0");
  text += std::string(",\"weighted\":") + (in[2].isTensor() && in[2].toTensor().defined() ? "true" : "false");
  text += std::string(",\"requires_grad\":") + (in[0].toTensor().requires_grad() ? "true" : "false");
  return text + ",\"module\":" + json_text(current_module()) + "}";
}

// (logits, labels, weight, reduction, ignore_index, label_smoothing), the last one of cross_entropy_loss alone.
void begin_loss(const Values& in, const char* function, OperatorProbe& open) {
  const bool smoothing = std::strcmp(function, "cross_entropy") == 0;
  if (in.size() < (smoothing ? 6u : 5u) || !in[0].isTensor() || !in[1].isTensor()) return;
  open.loss = true;
  if (open_losses++ > 0) return;
  outermost_loss = {};
  if (in_backward() || is_traced()) return;
  open.name = function;
  open.step = window_step();
  open.occurrence = next_occurrence("loss", function);
  outermost_loss = {open.name, open.step, open.occurrence};
  open.probe = std::strcmp(reduction_name(in[3]), "none") == 0 ? "token_loss" : "loss";
  open.detail = detail_of_loss(in, open, smoothing);
  capture(in[0].toTensor(), "logits", open, open.detail);
  capture(in[1].toTensor(), "labels", open, open.detail);
}

// Token ids are what the first embedding is given; of the others the module's name tells what they look up.
const char* probe_of_embedding(const std::string& module) {
  for (const char* part : {"pos", "wpe"}) {
    if (module.find(part) != std::string::npos) return "position_ids";
  }
  return module.find("type") != std::string::npos ? "activation.token_type_ids" : "input_ids";
}

// (weight, indices, …)
void take_embedding(const Values& in) {
  if (in.size() < 2 || !in[0].isTensor() || !in[1].isTensor() || in_backward() || is_traced()) return;
  OperatorProbe open;
  open.name = current_module();
  const char* const probe = probe_of_embedding(open.name);
  open.step = window_step();
  open.occurrence = next_occurrence(probe, open.name);
  const at::Tensor& weight = in[0].toTensor();
  capture(in[1].toTensor(), probe, open,
          "{\"function\":\"embedding\",\"vocabulary\":" + std::to_string(weight.dim() > 0 ? weight.size(0) : 0) + "}");
}

void take(const at::Tensor& tensor, const Place& place, std::int64_t step) {
  OperatorProbe open;
  open.name = place.name;
  open.step = step;
  open.occurrence = next_occurrence(place.probe, place.name);
  capture(tensor, place.probe.c_str(), open, "{\"module\":" + json_text(current_module()) + "}");
}

}  // namespace

void begin_operator_probe(const at::RecordFunction& function, OperatorProbe& probe) {
  if (window_step() < 0) return;
  const std::string_view name = function.name();
  if (name == "aten::cross_entropy_loss") return begin_loss(function.inputs(), "cross_entropy", probe);
  if (name == "aten::nll_loss_nd" || name == "aten::nll_loss") return begin_loss(function.inputs(), "nll_loss", probe);
  // Called by itself where a compiler has taken a cross-entropy apart.
  if (name == "aten::nll_loss_forward" || name == "aten::nll_loss2d_forward") {
    begin_loss(function.inputs(), "nll_loss", probe);
    probe.innermost_loss = true;
    return;
  }
  if (name == "aten::nll_loss_backward" || name == "aten::nll_loss2d_backward") {
    if (const at::Tensor* gradient = tensor_at(function.inputs(), 0)) take_loss_gradient(*gradient);
    return;
  }
  if (name == "aten::embedding") return take_embedding(function.inputs());
  for (std::size_t i = 0; i < places().size(); ++i) {
    const Place& place = places()[i];
    if (place.name != name) continue;
    probe.step = window_step();
    if (place.output) {
      probe.outputs.push_back(i);
    } else if (const at::Tensor* tensor = tensor_at(function.inputs(), place.index)) {
      take(*tensor, place, probe.step);
    }
  }
}

void end_operator_probe(const at::RecordFunction& function, OperatorProbe& probe) noexcept {
  if (probe.loss) --open_losses;
  if (probe.step < 0 && !probe.innermost_loss) return;
  try {
    const Values outputs(function.outputs().data(), function.outputs().size());
    if (probe.innermost_loss) {
      if (const at::Tensor* loss = tensor_at(outputs, 0)) follow_loss(*loss, outermost_loss);
    }
    if (probe.step < 0) return;
    if (const at::Tensor* loss = probe.loss ? tensor_at(outputs, 0) : nullptr) {
      const std::string graph = loss->requires_grad() ? "true" : "false";
      capture(*loss, probe.probe.c_str(), probe, "{\"graph\":" + graph + "," + probe.detail.substr(1));
    }
    for (const std::size_t index : probe.outputs) {
      const Place& place = places()[index];
      if (const at::Tensor* tensor = tensor_at(outputs, place.index)) take(*tensor, place, probe.step);
    }
  } catch (const std::exception&) {
    probe.step = -1;
  }
}

void add_operator_place(const std::string& name, const std::string& probe, bool output, const std::string& selector) {
  const bool number = !selector.empty() && selector.find_first_not_of("0123456789") == std::string::npos;
  places().push_back({name, probe, output, number && selector.size() < 4 ? std::stoi(selector) : -1});
}

}  // namespace plumbline::shim::adapter
