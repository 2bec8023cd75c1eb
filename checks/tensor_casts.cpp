#include "checks/tensor_casts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace plumbline::checks {
namespace {

using reader::DType;
using reader::Tensor;

// Elements in work at once: they stay in the nearest cache.
constexpr std::size_t kBlock = 2048;

using Make = std::function<void(std::size_t first, std::span<float> values, std::span<std::byte> bytes)>;

// `make` gives blocks of what the subject would be.
bool equals_blocks(const Tensor& subject, const Make& make) {
  const std::size_t size = size_of(subject.dtype);
  std::array<float, kBlock> values;
  std::array<std::byte, kBlock * sizeof(double)> bytes;
  const std::uint64_t all = subject.elements();
  for (std::uint64_t first = 0; first < all; first += kBlock) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, all - first));
    make(first, {values.data(), count}, {bytes.data(), count * size});
    if (std::memcmp(bytes.data(), subject.bytes.data() + first * size, count * size) != 0) return false;
  }
  return true;
}

void widen(std::span<const float> values, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wide = values[i];
    std::memcpy(bytes.data() + i * sizeof(wide), &wide, sizeof(wide));
  }
}

bool is_real(DType dtype) { return is_floating(dtype) && dtype != DType::kC64 && dtype != DType::kF8E8M0; }

}  // namespace

bool is_cast_of(const Tensor& subject, const Tensor& reference) {
  if (!is_real(subject.dtype) || !is_real(reference.dtype)) return false;
  return equals_blocks(subject, [&](std::size_t first, std::span<float> values, std::span<std::byte> bytes) {
    read_floats(reference.dtype, reference.bytes, first, values);
    if (subject.dtype == DType::kF64) {
      widen(values, bytes);
    } else {
      write_floats(subject.dtype, values, bytes);
    }
  });
}

bool is_truncation_of(const Tensor& subject, const Tensor& reference) {
  if (subject.dtype != DType::kBF16 || reference.dtype != DType::kF32) return false;
  return equals_blocks(subject, [&](std::size_t first, std::span<float> values, std::span<std::byte> bytes) {
    read_floats(reference.dtype, reference.bytes, first, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto high = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(values[i]) >> 16);
      std::memcpy(bytes.data() + i * sizeof(high), &high, sizeof(high));
    }
  });
}

std::optional<DType> rounded_through(const Tensor& subject, const Tensor& reference) {
  if (subject.dtype != reference.dtype || (subject.dtype != DType::kF32 && subject.dtype != DType::kBF16)) {
    return std::nullopt;
  }
  for (const DType narrow : {DType::kBF16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2}) {
    if (precision_of(narrow) >= precision_of(subject.dtype) && narrow != DType::kF16) continue;
    const bool all =
        equals_blocks(subject, [&](std::size_t first, std::span<float> values, std::span<std::byte> bytes) {
          std::array<std::byte, kBlock * sizeof(float)> rounded;
          read_floats(reference.dtype, reference.bytes, first, values);
          write_floats(narrow, values, rounded);
          read_floats(narrow, rounded, 0, values);
          write_floats(subject.dtype, values, bytes);
        });
    if (all) return narrow;
  }
  return std::nullopt;
}

}  // namespace plumbline::checks
