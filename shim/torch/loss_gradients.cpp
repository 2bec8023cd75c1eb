#include "shim/torch/loss_gradients.hpp"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "shim/torch/capture_tensor.hpp"
#include "shim/torch/probe_window.hpp"

namespace plumbline::shim::adapter {
namespace {

using torch::autograd::Node;

struct Followed {
  std::mutex lock;
  std::int64_t step = -1;
  std::map<const Node*, LossPlace> places;  // of this step; the address of a node that is gone may come again
};
// Never destroyed: a thread of the job may capture during static destruction.
Followed& followed() {
  static auto* const made = new Followed;
  return *made;
}

// torch.autograd.grad gives gradients to its caller rather than to parameters.
bool is_for_the_caller() {
  const auto* const info = torch::autograd::get_current_graph_task_exec_info();
  return info != nullptr &&
         std::any_of(info->begin(), info->end(), [](const auto& one) { return one.second.captures_ != nullptr; });
}

}  // namespace

void follow_loss(const at::Tensor& result, const LossPlace& place) {
  const Node* const node = result.grad_fn().get();
  if (node == nullptr || place.step < 0) return;
  const std::lock_guard hold(followed().lock);
  if (followed().step != place.step) followed().places.clear();
  followed().step = place.step;
  followed().places[node] = place;
}

void take_loss_gradient(const at::Tensor& gradient) {
  const auto node = torch::autograd::get_current_node();  // a shared_ptr, from torch 2.15 on an intrusive_ptr
  if (node == nullptr || is_for_the_caller()) return;
  CaptureTarget target;
  target.probe = "loss.grad";
  {
    const std::lock_guard hold(followed().lock);
    const auto at = followed().places.find(node.get());
    if (at == followed().places.end() || at->second.step != window_step()) return;
    target.name = at->second.name;
    target.step = at->second.step;
    target.occurrence = at->second.occurrence;
  }
  if (capture_tensor(gradient, target)) count_probe(target.probe);
}

}  // namespace plumbline::shim::adapter
