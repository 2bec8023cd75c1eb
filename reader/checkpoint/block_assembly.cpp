#include "reader/checkpoint/block_assembly.hpp"

#include <algorithm>
#include <cstring>

#include "reader/checkpoint/safetensors.hpp"

namespace plumbline::reader {

bool BlockAssembly::begin(std::vector<std::uint64_t> shape, std::size_t element_size, std::uint64_t most) {
  std::uint64_t count = 0;
  if (!element_count(shape, count) || count > most / element_size) return false;
  shape_ = std::move(shape);
  element_size_ = element_size;
  bytes_ = std::make_shared<std::vector<std::byte>>(count * element_size);
  written_.assign(count, false);
  return true;
}

bool BlockAssembly::add(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> offset,
                        std::span<const std::byte> bytes) {
  if (shape.size() != shape_.size() || offset.size() != shape_.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > shape_[i] || offset[i] > shape_[i] - shape[i]) return false;
  }
  std::uint64_t count = 0;
  if (!element_count(shape, count) || bytes.size() != count * element_size_) return false;
  if (count == 0) return true;
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  std::vector<std::uint64_t> index(shape.size());
  for (std::uint64_t done = 0; done < count; done += row) {
    std::uint64_t to = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) to = to * shape_[i] + offset[i] + index[i];
    std::memcpy(bytes_->data() + to * element_size_, bytes.data() + done * element_size_, row * element_size_);
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(to), row, true);
    for (std::size_t i = index.size(); i > 1 && ++index[i - 2] == shape[i - 2]; --i) index[i - 2] = 0;
  }
  return true;
}

std::uint64_t BlockAssembly::absent() const {
  return static_cast<std::uint64_t>(std::count(written_.begin(), written_.end(), false));
}

}  // namespace plumbline::reader
