// Sizes, type and address of the tensors of a collective call.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::shim::adapter {

// Sum over one side of a call. Adding a tensor reads its C++ object only.
struct TensorList {
  std::uint64_t elements = 0;
  std::uint64_t buffer = 0;  // address of the first tensor's data, 0 when it has none
  std::uint16_t tensors = 0;
  recorder::Dtype dtype = recorder::Dtype::kUnknown;

  void add(const at::Tensor& tensor);
  void add(const std::vector<at::Tensor>& list);
  void add(const std::vector<std::vector<at::Tensor>>& lists);
};

}  // namespace plumbline::shim::adapter
