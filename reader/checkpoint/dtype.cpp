#include "reader/checkpoint/dtype.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "reader/checkpoint/small_float.hpp"

namespace plumbline::reader {
namespace {

struct Facts {
  std::string_view name;
  std::string_view torch;
  std::uint8_t size;
  std::uint8_t precision;  // 0: not a floating type
};

constexpr std::array<Facts, kDTypes> kFacts = {{
    {"BOOL", "bool", 1, 0},
    {"U8", "uint8", 1, 0},
    {"I8", "int8", 1, 0},
    {"U16", "uint16", 2, 0},
    {"I16", "int16", 2, 0},
    {"U32", "uint32", 4, 0},
    {"I32", "int32", 4, 0},
    {"U64", "uint64", 8, 0},
    {"I64", "int64", 8, 0},
    {"F8_E4M3", "float8_e4m3fn", 1, 4},
    {"F8_E5M2", "float8_e5m2", 1, 3},
    {"F8_E8M0", "float8_e8m0fnu", 1, 1},
    {"F16", "float16", 2, 11},
    {"BF16", "bfloat16", 2, 8},
    {"F32", "float32", 4, 24},
    {"F64", "float64", 8, 53},
    {"C64", "complex64", 8, 24},
}};

const Facts& facts_of(DType dtype) { return kFacts[static_cast<std::size_t>(dtype)]; }

template <class Number>
Number load(const std::byte* from) {
  Number value;
  std::memcpy(&value, from, sizeof(Number));
  return value;
}

float bf16_value(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

template <class Number, class Convert>
void read_each(const std::byte* from, std::span<float> values, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert(load<Number>(from + i * sizeof(Number)));
}

template <class Number>
void read_numbers(const std::byte* from, std::span<float> values) {
  read_each<Number>(from, values, [](Number value) { return static_cast<float>(value); });
}

template <class Number, class Convert>
void write_each(std::span<const float> values, std::byte* to, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<Number>(convert(values[i]));
    std::memcpy(to + i * sizeof(Number), &bits, sizeof(Number));
  }
}

// A power of two; 255 is NaN.
float e8m0_value(std::uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, static_cast<int>(bits) - 127);
}

}  // namespace

std::string_view name_of(DType dtype) { return facts_of(dtype).name; }
std::size_t size_of(DType dtype) { return facts_of(dtype).size; }
bool is_floating(DType dtype) { return facts_of(dtype).precision != 0; }
int precision_of(DType dtype) { return facts_of(dtype).precision; }

std::optional<DType> dtype_named(std::string_view safetensors_name) {
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if (kFacts[i].name == safetensors_name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_of_torch(std::string_view torch_name) {
  constexpr std::string_view kModule = "torch.";
  if (torch_name.starts_with(kModule)) torch_name.remove_prefix(kModule.size());
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if (kFacts[i].torch == torch_name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

void read_floats(DType dtype, std::span<const std::byte> bytes, std::size_t first, std::span<float> values) {
  const std::byte* from = bytes.data() + first * size_of(dtype);
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return read_numbers<std::uint8_t>(from, values);
    case DType::kI8:
      return read_numbers<std::int8_t>(from, values);
    case DType::kU16:
      return read_numbers<std::uint16_t>(from, values);
    case DType::kI16:
      return read_numbers<std::int16_t>(from, values);
    case DType::kU32:
      return read_numbers<std::uint32_t>(from, values);
    case DType::kI32:
      return read_numbers<std::int32_t>(from, values);
    case DType::kU64:
      return read_numbers<std::uint64_t>(from, values);
    case DType::kI64:
      return read_numbers<std::int64_t>(from, values);
    case DType::kF8E4M3:
      return read_each<std::uint8_t>(from, values, [](std::uint8_t bits) { return kE4M3.decode(bits); });
    case DType::kF8E5M2:
      return read_each<std::uint8_t>(from, values, [](std::uint8_t bits) { return kE5M2.decode(bits); });
    case DType::kF8E8M0:
      return read_each<std::uint8_t>(from, values, e8m0_value);
    case DType::kF16:
      return read_each<std::uint16_t>(from, values, [](std::uint16_t bits) { return kHalf.decode(bits); });
    case DType::kBF16:
      return read_each<std::uint16_t>(from, values, bf16_value);
    case DType::kF32:
      if (!values.empty()) std::memcpy(values.data(), from, values.size_bytes());
      return;
    case DType::kF64:
      return read_numbers<double>(from, values);
    case DType::kC64:
      return read_each<std::uint64_t>(
          from, values, [](std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); });
  }
}

double value_at(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  const std::byte* from = bytes.data() + index * size_of(dtype);
  if (dtype == DType::kF64) return load<double>(from);
  if (dtype == DType::kI64) return static_cast<double>(load<std::int64_t>(from));
  if (dtype == DType::kU64) return static_cast<double>(load<std::uint64_t>(from));
  if (dtype == DType::kI32) return load<std::int32_t>(from);
  if (dtype == DType::kU32) return load<std::uint32_t>(from);
  float value = 0;
  read_floats(dtype, bytes, index, {&value, 1});
  return value;
}

void write_floats(DType dtype, std::span<const float> values, std::span<std::byte> bytes) {
  switch (dtype) {
    case DType::kBF16:
      return write_each<std::uint16_t>(values, bytes.data(), bf16_bits);
    case DType::kF16:
      return write_each<std::uint16_t>(values, bytes.data(), [](float value) { return kHalf.encode(value); });
    case DType::kF8E4M3:
      return write_each<std::uint8_t>(values, bytes.data(), [](float value) { return kE4M3.encode(value); });
    case DType::kF8E5M2:
      return write_each<std::uint8_t>(values, bytes.data(), [](float value) { return kE5M2.encode(value); });
    default:
      if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size_bytes());
  }
}

}  // namespace plumbline::reader
