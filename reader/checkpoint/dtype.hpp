// Element types of tensors in checkpoints, and what their bits mean.
//
//   const auto dtype = dtype_named("BF16");
//   read_floats(*dtype, bytes, 0, values);          // elements 0 … values.size()-1 as float
//   write_floats(DType::kF16, values, rounded);     // rounded to the nearest, ties to even, as PyTorch casts
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plumbline::reader {

enum class DType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kU64,
  kI64,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
};
inline constexpr std::size_t kDTypes = 17;

// As safetensors writes it: "BF16".
std::string_view name_of(DType dtype);
std::optional<DType> dtype_named(std::string_view safetensors_name);
// Of PyTorch's name, with or without "torch.": "bfloat16".
std::optional<DType> dtype_of_torch(std::string_view torch_name);
std::size_t size_of(DType dtype);
bool is_floating(DType dtype);
// Significant bits of a floating type, the leading one included; whole numbers up to 2^bits are exact.
int precision_of(DType dtype);

// Elements first … of `bytes`, which must hold them. Whole numbers are rounded to float; a complex number is its real
// part.
void read_floats(DType dtype, std::span<const std::byte> bytes, std::size_t first, std::span<float> values);
// The same exactly, for the few values that matter by themselves.
double value_at(DType dtype, std::span<const std::byte> bytes, std::size_t index);
// Values as elements of a floating type of at most 32 bits; `bytes` holds as many.
void write_floats(DType dtype, std::span<const float> values, std::span<std::byte> bytes);

}  // namespace plumbline::reader
