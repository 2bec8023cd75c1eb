// Tensors of every kind that a job has, and their elements as PyTorch itself lays them out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::shim::adapter::testing {

// 0, 1, 2 … in this type and shape, none of them alike where the type is wide enough.
at::Tensor counted(at::IntArrayRef shape, at::ScalarType type = at::kFloat);

// One number without a dimension.
at::Tensor number(double value, at::ScalarType type = at::kFloat);

// Row by row, without gaps.
std::vector<std::uint8_t> bytes_of(const at::Tensor& tensor);
// Of `all` the elements at these places, `size` bytes each.
std::vector<std::uint8_t> at_places(const std::vector<std::uint8_t>& all, const std::vector<std::uint64_t>& places,
                                    std::size_t size);

// What has no dense elements in host memory: a word for it, and the tensor.
std::vector<std::pair<std::string, at::Tensor>> without_elements();

}  // namespace plumbline::shim::adapter::testing
