#include "shim/torch/tensor_elements.hpp"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>
#if __has_include(<ATen/ops/hash_tensor.h>)
#include <ATen/ops/hash_tensor.h>
#define PLUMBLINE_HASH_TENSOR 1
#else
#define PLUMBLINE_HASH_TENSOR 0
#endif

#if PLUMBLINE_WITH_CUDA
#include <c10/cuda/CUDAGraphsC10Utils.h>
#endif

#include <cstring>
#include <exception>
#include <functional>
#include <numeric>

#include "recorder/dtype_size.hpp"
#include "shim/torch/dtype.hpp"
#include "shim/torch/unseen.hpp"

namespace plumbline::shim::adapter {
namespace {

bool has_plain_elements(const at::Tensor& tensor) {
  const c10::DispatchKeySet keys = tensor.unsafeGetTensorImpl()->key_set();
  for (const auto key : {c10::DispatchKey::Python, c10::DispatchKey::Functionalize, c10::DispatchKey::Conjugate,
                         c10::DispatchKey::Negative, c10::DispatchKey::ZeroTensor}) {
    if (keys.has(key)) return false;
  }
  return tensor.layout() == c10::kStrided && tensor.has_storage() && !tensor.is_meta() && !tensor.is_quantized() &&
         !tensor.is_nested();
}

// A copy to the host would end the capture with an error.
bool in_graph_capture(const at::Tensor& tensor) {
#if PLUMBLINE_WITH_CUDA
  return tensor.is_cuda() && c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
#else
  return tensor.is_cuda();
#endif
}

at::ScalarType word_of(std::size_t size) {
  switch (size) {
    case 1:
      return at::kChar;
    case 2:
      return at::kShort;
    case 4:
      return at::kInt;
    default:
      return at::kLong;
  }
}

}  // namespace

TensorElements::TensorElements(const at::Tensor& tensor, Interval interval) : tensor_(tensor) {
  if (!tensor.defined() || !has_plain_elements(tensor) || in_graph_capture(tensor)) return;
  dtype_ = dtype_of(tensor.scalar_type());
  size_ = recorder::size_of(dtype_);
  if (size_ == 0 || size_ != tensor.itemsize()) return;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    shape_.push_back(static_cast<std::uint64_t>(tensor.size(i)));
    strides_.push_back(static_cast<std::uint64_t>(tensor.stride(i)));
  }
  if (interval.count >= 0) {
    if (tensor.dim() == 0 || interval.first < 0 || interval.first > tensor.size(0)) return;
    if (interval.count > tensor.size(0) - interval.first) return;
    offset_ = interval.first * tensor.stride(0);
    shape_[0] = static_cast<std::uint64_t>(interval.count);
  }
  count_ = std::accumulate(shape_.begin(), shape_.end(), std::uint64_t{1}, std::multiplies<>());
  readable_ = count_ == 0 || in_storage();
}

// A tensor whose storage was freed (a resharded parameter) or cut has a shape, but not its elements.
bool TensorElements::in_storage() const {
  const auto last = static_cast<std::uint64_t>(tensor_.storage_offset() + storage_place(count_ - 1));
  return (last + 1) * size_ <= tensor_.storage().nbytes();
}

std::int64_t TensorElements::storage_place(std::uint64_t place) const noexcept {
  std::uint64_t found = 0;
  for (std::size_t i = shape_.size(); i-- > 0;) {
    found += place % shape_[i] * strides_[i];
    place /= shape_[i];
  }
  return offset_ + static_cast<std::int64_t>(found);
}

// Row by row of the last dimension.
void TensorElements::copy_rows(std::uint8_t* out) const {
  const auto* base = static_cast<const std::uint8_t*>(tensor_.const_data_ptr());
  const std::uint64_t row = shape_.empty() ? 1 : shape_.back();
  const std::uint64_t step = (strides_.empty() ? 1 : strides_.back()) * size_;
  for (std::uint64_t place = 0; place < count_; place += row) {
    const std::uint8_t* from = base + static_cast<std::uint64_t>(storage_place(place)) * size_;
    if (step == size_) {
      std::memcpy(out, from, row * size_);
      out += row * size_;
      continue;
    }
    for (std::uint64_t i = 0; i < row; ++i, out += size_) std::memcpy(out, from + i * step, size_);
  }
}

const std::uint8_t* TensorElements::all() {
  static constexpr std::uint8_t kNone = 0;
  if (count_ == 0) return &kNone;
  if (!copy_.empty()) return copy_.data();
  std::uint64_t expected = 1;
  bool contiguous = true;
  for (std::size_t i = shape_.size(); i-- > 0; expected *= shape_[i]) {
    contiguous = contiguous && (shape_[i] == 1 || strides_[i] == expected);
  }
  if (on_host() && contiguous) {
    return static_cast<const std::uint8_t*>(tensor_.const_data_ptr()) + static_cast<std::uint64_t>(offset_) * size_;
  }
  copy_.resize(bytes());
  if (on_host()) {
    copy_rows(copy_.data());
    return copy_.data();
  }
  try {
    const Unseen unseen;
    std::vector<std::int64_t> shape(shape_.begin(), shape_.end());
    const std::vector<std::int64_t> strides(strides_.begin(), strides_.end());
    const at::Tensor part = at::as_strided(tensor_, shape, strides, tensor_.storage_offset() + offset_).contiguous();
    at::Tensor host = at::from_blob(copy_.data(), shape, at::TensorOptions().dtype(tensor_.scalar_type()));
    host.copy_(part);
    return copy_.data();
  } catch (const std::exception&) {
    copy_.clear();
    return nullptr;
  }
}

// The storage from the first element to the last, as integers of the elements' size: index_select has those everywhere.
at::Tensor TensorElements::as_words() const {
  const std::int64_t length = storage_place(count_ - 1) - offset_ + 1;
  const at::Tensor flat = at::as_strided(tensor_, {length}, {1}, tensor_.storage_offset() + offset_);
  return flat.view(word_of(size_));
}

bool TensorElements::gather(const std::vector<std::uint64_t>& places, std::vector<std::uint8_t>& out) {
  out.resize(places.size() * size_);
  if (places.empty()) return true;
  if (on_host()) {
    const auto* base = static_cast<const std::uint8_t*>(tensor_.const_data_ptr());
    for (std::size_t i = 0; i < places.size(); ++i) {
      std::memcpy(&out[i * size_], base + static_cast<std::uint64_t>(storage_place(places[i])) * size_, size_);
    }
    return true;
  }
  if (size_ > sizeof(std::int64_t)) return false;
  try {
    const Unseen unseen;
    std::vector<std::int64_t> index;
    index.reserve(places.size());
    for (const std::uint64_t place : places) index.push_back(storage_place(place) - offset_);
    const auto count = static_cast<std::int64_t>(index.size());
    const at::Tensor on_device = at::from_blob(index.data(), {count}, at::kLong).to(tensor_.device());
    at::Tensor host = at::from_blob(out.data(), {count}, at::TensorOptions().dtype(word_of(size_)));
    host.copy_(at::index_select(as_words(), 0, on_device));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool TensorElements::torch_hash([[maybe_unused]] std::uint64_t& hash) {
#if PLUMBLINE_HASH_TENSOR
  if (count_ == 0) return false;
  try {
    const Unseen unseen;
    const std::vector<std::int64_t> shape(shape_.begin(), shape_.end());
    const std::vector<std::int64_t> strides(strides_.begin(), strides_.end());
    const at::Tensor part = at::as_strided(tensor_, shape, strides, tensor_.storage_offset() + offset_);
    at::Tensor host = at::from_blob(&hash, {}, at::TensorOptions().dtype(at::kUInt64));
    host.copy_(at::hash_tensor(part));
    return true;
  } catch (const std::exception&) {
    return false;
  }
#else
  return false;
#endif
}

}  // namespace plumbline::shim::adapter
