// A tensor put together from rectangular blocks, as ranks or files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plumbline::reader {

class BlockAssembly {
 public:
  // False when the whole is larger than `most` bytes, which whoever says its shape must not decide alone.
  bool begin(std::vector<std::uint64_t> shape, std::size_t element_size, std::uint64_t most);
  bool begun() const { return bytes_ != nullptr; }

  const std::vector<std::uint64_t>& shape() const { return shape_; }
  // False when the block does not fit into the whole, or `bytes` not into the block.
  bool add(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> offset,
           std::span<const std::byte> bytes);
  // Elements that no block gave.
  std::uint64_t absent() const;
  std::size_t elements() const { return written_.size(); }
  const std::shared_ptr<std::vector<std::byte>>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint64_t> shape_;
  std::size_t element_size_ = 1;
  std::shared_ptr<std::vector<std::byte>> bytes_;
  std::vector<bool> written_;  // by element
};

}  // namespace plumbline::reader
