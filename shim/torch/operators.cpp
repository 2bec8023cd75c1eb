#include "shim/torch/operators.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>

#include "shim/torch/host.hpp"
#include "shim/torch/module_path.hpp"
#include "shim/torch/operator_probes.hpp"
#include "shim/torch/unseen.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Kind;
using recorder::RangeRecord;

constexpr std::size_t kMostTensors = 8;  // of an operator's inputs in its name

thread_local std::uint32_t open_operators = 0;

struct OperatorContext final : at::ObserverContext {
  std::uint64_t name = 0;
  std::uint64_t handle = 0;
  std::uint8_t depth = 0;
  OperatorProbe probe;
};

void add_tensor(std::string& text, const at::Tensor& tensor) {
  text += ' ';
  if (!tensor.defined()) {
    text += "none";
    return;
  }
  text += c10::toString(tensor.scalar_type());
  text += '[';
  // Shapes of symbols, as a compiler's tracing has them, are not asked for: that would add guards to its graph.
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!impl.has_symbolic_sizes_strides()) {
    const auto sizes = impl.sizes();
    for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(sizes[i]);
  }
  text += ']';
}

// "aten::addmm Float[32,64] Float[8,64] in layers.0.up"
std::string describe(const at::RecordFunction& function) {
  std::string text = function.name();
  std::size_t tensors = 0;
  for (const c10::IValue& value : function.inputs()) {
    if (value.isTensor() && ++tensors <= kMostTensors) add_tensor(text, value.toTensor());
    if (!value.isTensorList()) continue;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (++tensors <= kMostTensors) add_tensor(text, tensor);
    }
  }
  if (tensors > kMostTensors) text += " and " + std::to_string(tensors - kMostTensors) + " more";
  if (const std::string& module = current_module(); !module.empty()) text += " in " + module;
  return text;
}

void push(const OperatorContext& context, Kind kind) noexcept {
  RangeRecord record{};
  record.header = {host().now_ns(), kind, recorder::slots_of<RangeRecord>(), context.depth,
                   static_cast<std::uint32_t>(at::RecordScope::FUNCTION)};
  record.name = context.name;
  record.handle = context.handle;
  host().push(&record.header);
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function) {
  if (!host().active() || Unseen::here()) return nullptr;
  try {
    auto context = std::make_unique<OperatorContext>();
    context->name = text_id(describe(function));
    context->handle = host().next_id();
    context->depth = static_cast<std::uint8_t>(std::min<std::uint32_t>(open_operators, 255));
    begin_operator_probe(function, context->probe);
    push(*context, Kind::kRangeBegin);
    host().begin_launches(context->handle);
    ++open_operators;
    return context;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void on_end(const at::RecordFunction& function, at::ObserverContext* opaque) {
  auto* const context = static_cast<OperatorContext*>(opaque);
  if (context == nullptr) return;
  --open_operators;
  host().end_launches();
  push(*context, Kind::kRangeEnd);
  end_operator_probe(function, context->probe);
}

}  // namespace

void observe_operators(bool on) noexcept {
  static at::CallbackHandle handle = 0;
  try {
    if (handle == 0 && on) {
      handle = at::addGlobalCallback(at::RecordFunctionCallback(on_begin, on_end)
                                         .needsInputs(true)
                                         .needsOutputs(true)
                                         .scopes({at::RecordScope::FUNCTION}));
    } else if (handle != 0 && on) {
      at::reenableCallback(handle);
    } else if (handle != 0) {
      at::disableCallback(handle);
    }
  } catch (const std::exception& error) {
    host().fact("operators.error", error.what());
  }
}

}  // namespace plumbline::shim::adapter
