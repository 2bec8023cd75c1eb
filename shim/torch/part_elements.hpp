// The elements of a part of a collective in host memory, block by block; see shim/torch/collective_tensors.hpp. Only
// reads, and in place: without an operator, an allocation that the job would count, or the interpreter lock.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/torch/collective_tensors.hpp"
#include "shim/torch/tensor_elements.hpp"

namespace plumbline::shim::adapter {

class PartElements {
 public:
  explicit PartElements(const CollectivePart& part);

  // Dense elements of one type in host memory.
  bool readable() const noexcept { return readable_; }
  recorder::Dtype dtype() const noexcept { return elements_.front().dtype(); }
  std::uint64_t count() const noexcept { return count_; }
  // Of the one tensor, or of all blocks one after the other.
  std::vector<std::uint64_t> shape() const;

  // All blocks one after the other.
  std::vector<std::uint8_t> all();
  std::vector<std::uint64_t> hashes();
  // Of each block the places of a sample of so many elements.
  std::vector<std::uint64_t> places(std::uint64_t a_block) const;
  std::vector<std::uint8_t> gather(const std::vector<std::uint64_t>& places);

 private:
  const std::vector<std::uint64_t>& blocks_;
  std::vector<TensorElements> elements_;
  std::uint64_t count_ = 0;
  bool readable_ = false;
};

}  // namespace plumbline::shim::adapter
