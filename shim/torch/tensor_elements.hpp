// The elements of a job's tensor, brought into host memory as far as they are asked for.
//
// Only reads: no autograd, no dispatch mode of the job, no random numbers. Host memory is read in place, without any
// operator, and so without an allocation that the job's own counts would show. On a device, the current stream is used.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "recorder/capture.hpp"

namespace plumbline::shim::adapter {

// Rows of the first dimension; count < 0: the whole tensor.
struct Interval {
  std::int64_t first = 0;
  std::int64_t count = -1;
};

class TensorElements {
 public:
  // Not readable(): no dense elements of a known type, or a CUDA graph is being captured.
  TensorElements(const at::Tensor& tensor, Interval interval);

  bool readable() const noexcept { return readable_; }
  recorder::Dtype dtype() const noexcept { return dtype_; }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t bytes() const noexcept { return count_ * size_; }
  const std::vector<std::uint64_t>& shape() const noexcept { return shape_; }
  bool on_host() const noexcept { return tensor_.is_cpu(); }

  // All, row-major. Borrowed till the end of this object; null when the device refuses.
  const std::uint8_t* all();
  // Those at rising places of the row-major order. False when the device refuses.
  bool gather(const std::vector<std::uint64_t>& places, std::vector<std::uint8_t>& out);
  // torch.hash_tensor, where this torch and the tensor's device have it.
  bool torch_hash(std::uint64_t& hash);

 private:
  bool in_storage() const;
  std::int64_t storage_place(std::uint64_t place) const noexcept;
  at::Tensor as_words() const;
  void copy_rows(std::uint8_t* out) const;

  at::Tensor tensor_;
  bool readable_ = false;
  recorder::Dtype dtype_ = recorder::Dtype::kUnknown;
  std::uint64_t count_ = 0;
  std::size_t size_ = 0;  // of an element
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> strides_;
  std::int64_t offset_ = 0;  // of the first element, from the tensor's own
  std::vector<std::uint8_t> copy_;
};

}  // namespace plumbline::shim::adapter
