#include "reader/checkpoint/tensor_digest.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace plumbline::reader {
namespace {

constexpr std::size_t kBlock = 4096;

std::uint64_t torch_bits(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  if (dtype == DType::kI64 || dtype == DType::kU64) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + index * sizeof(bits), sizeof(bits));
    return bits;
  }
  const double value = value_at(dtype, bytes, index);
  return is_floating(dtype) ? std::bit_cast<std::uint64_t>(value)
                            : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// Given blocks of elements one after the other.
class Digest {
 public:
  Digest(TensorDigest::Kind kind, DType dtype) : kind_(kind), dtype_(dtype) { XXH3_64bits_reset(&state_); }

  void add(std::span<const std::byte> bytes) {
    if (kind_ == TensorDigest::Kind::kXxh3) {
      XXH3_64bits_update(&state_, bytes.data(), bytes.size());
      return;
    }
    for (std::size_t i = 0; i < bytes.size() / size_of(dtype_); ++i) xor_ ^= torch_bits(dtype_, bytes, i);
  }
  std::uint64_t value() const { return kind_ == TensorDigest::Kind::kXxh3 ? XXH3_64bits_digest(&state_) : xor_; }

 private:
  XXH3_state_t state_;
  std::uint64_t xor_ = 0;
  TensorDigest::Kind kind_;
  DType dtype_;
};

}  // namespace

std::optional<std::uint64_t> digest_as(DType dtype, TensorDigest::Kind kind, const Tensor& tensor) {
  Digest digest(kind, dtype);
  if (dtype == tensor.dtype) {
    digest.add(tensor.bytes);
    return digest.value();
  }
  if (!is_floating(dtype) || !is_floating(tensor.dtype) || dtype == DType::kF64 || tensor.dtype == DType::kF64) {
    return std::nullopt;
  }
  std::array<float, kBlock> values;
  std::array<std::byte, kBlock * sizeof(float)> bytes;
  for (std::uint64_t first = 0; first < tensor.elements(); first += kBlock) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, tensor.elements() - first));
    read_floats(tensor.dtype, tensor.bytes, first, {values.data(), count});
    write_floats(dtype, {values.data(), count}, bytes);
    digest.add({bytes.data(), count * size_of(dtype)});
  }
  return digest.value();
}

}  // namespace plumbline::reader
