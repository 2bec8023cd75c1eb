// The arguments of a c10d backend call, as the preload object hands them over.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::shim::adapter {

using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;
using Splits = std::vector<std::int64_t>;

// In the order of c10d::Backend's declarations.
class Arguments {
 public:
  explicit Arguments(void* const* values) : values_(values) {}
  template <class T>
  const T& get(int index) const {
    return *static_cast<const T*>(values_[index]);
  }
  std::int32_t number(int index) const {
    return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(values_[index]));
  }

 private:
  void* const* values_;
};

}  // namespace plumbline::shim::adapter
