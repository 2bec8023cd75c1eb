#include "shim/torch/testing/tensors.hpp"

#include <ATen/ops/_conj.h>
#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/_nested_tensor_from_tensor_list.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/zeros.h>

namespace plumbline::shim::adapter::testing {

at::Tensor counted(at::IntArrayRef shape, at::ScalarType type) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return at::arange(count, at::kDouble).reshape(shape).to(type);
}

at::Tensor number(double value, at::ScalarType type) { return at::full({}, value, type); }

std::vector<std::uint8_t> bytes_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  const auto* const first = static_cast<const std::uint8_t*>(dense.const_data_ptr());
  return {first, first + dense.nbytes()};
}

std::vector<std::uint8_t> at_places(const std::vector<std::uint8_t>& all, const std::vector<std::uint64_t>& places,
                                    std::size_t size) {
  std::vector<std::uint8_t> some;
  for (const std::uint64_t place : places) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(place * size);
    some.insert(some.end(), first, first + static_cast<std::ptrdiff_t>(size));
  }
  return some;
}

std::vector<std::pair<std::string, at::Tensor>> without_elements() {
  const at::Tensor floats = counted({2, 3});
  const at::Tensor freed = counted({6});
  freed.storage().unsafeGetStorageImpl()->set_nbytes(0);
  const at::Tensor cut = counted({6});
  cut.storage().unsafeGetStorageImpl()->set_nbytes(5 * sizeof(float));
  return {{"undefined", at::Tensor()},
          {"meta", at::empty({6}, at::TensorOptions().device(at::kMeta))},
          {"sparse", floats.to_sparse()},
          {"quantized", at::quantize_per_tensor(floats, 0.1, 0, at::kQInt8)},
          {"conjugated", at::_conj(counted({6}, at::kComplexFloat))},
          {"negated", at::_neg_view(floats)},
          {"zeros that are nowhere", at::_efficientzerotensor({6}, at::kFloat)},
          {"nested", at::_nested_tensor_from_tensor_list({counted({2, 3}), counted({1, 3})})},
          {"a type without a word", at::zeros({6}, at::kComplexHalf)},
          {"freed", freed},
          {"cut short", cut}};
}

}  // namespace plumbline::shim::adapter::testing
