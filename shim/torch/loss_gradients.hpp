// What a captured loss's own backward operator is given: the weight that this loss has in the gradients, whatever the
// job does to it between the loss and backward(): factors, hooks, other terms of a sum.
//
// A loss is known again by its node of the autograd graph, which its backward operator runs in. Nothing is added to the
// job's graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace plumbline::shim::adapter {

struct LossPlace {
  std::string name;
  std::int64_t step = -1;
  std::uint32_t occurrence = 0;
};

// `result` is what the loss's innermost operator gave, with its node. From any thread.
void follow_loss(const at::Tensor& result, const LossPlace& place);

// In a backward operator of a loss. Gradients that backward() does not leave in parameters, as those of
// torch.autograd.grad, are left out.
void take_loss_gradient(const at::Tensor& gradient);

}  // namespace plumbline::shim::adapter
