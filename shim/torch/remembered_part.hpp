// A part of a collective between the call and its end: where its tensors are, without keeping them, and what was seen
// of them, so that it shows whether they have changed since.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "shim/torch/collective_tensors.hpp"

namespace plumbline::shim::adapter {

class RememberedPart {
 public:
  explicit RememberedPart(const CollectivePart& part);

  // Keeps some elements of each block, and with `hashed` a hash of each.
  void look(bool hashed);
  // Whether anything of it is known to be other than at the look. Writes of the job through PyTorch show in the
  // tensors' version, others where they fall on what was kept.
  bool changed() const;
  // Whether the tensors' version alone says so: of what the backend itself writes to in place.
  bool written() const;
  // Blocks of which nothing that was kept has changed; empty blocks are none.
  std::vector<std::size_t> untouched() const;

  bool holds(const at::Tensor& tensor) const;
  // Whether some of its elements lie where some of the other's do, of which no tensor is gone.
  bool overlaps(const RememberedPart& other) const;
  // Nothing when one of the tensors is gone.
  std::optional<CollectivePart> part() const;

 private:
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  // Of a tensor's elements: from the first byte to behind the last one.
  struct Extent {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::vector<Weak> tensors_;
  std::vector<Extent> extents_;
  std::vector<std::uint64_t> blocks_;
  bool even_;
  std::vector<std::uint32_t> versions_;
  std::vector<std::uint64_t> places_;
  std::vector<std::uint8_t> sample_;
  std::vector<std::uint64_t> hashes_;
};

}  // namespace plumbline::shim::adapter
