#include "checks/element_values.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;

struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float8E4m3 {
  std::uint8_t bits;
};
struct Float8E5m2 {
  std::uint8_t bits;
};

template <class T>
double as_double(T value) {
  return static_cast<double>(value);
}

// Of a float with `mantissa` bits behind the point: exponent and fraction of a finite number.
double small_float(std::uint32_t magnitude, int mantissa, int bias) {
  const auto exponent = static_cast<int>(magnitude >> mantissa);
  const std::uint32_t fraction = magnitude & ((1U << mantissa) - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - bias - mantissa);
  return std::ldexp(fraction + (1U << mantissa), exponent - bias - mantissa);
}

double as_double(Bfloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

double as_double(Float16 value) {
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  double result = 0;
  if (magnitude > 0x7c00) {
    result = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == 0x7c00) {
    result = std::numeric_limits<double>::infinity();
  } else {
    result = small_float(magnitude, 10, 15);
  }
  return (value.bits & 0x8000U) != 0 ? -result : result;
}

double as_double(Float8E4m3 value) {
  const std::uint32_t magnitude = value.bits & 0x7fU;
  const double result = magnitude == 0x7f ? std::numeric_limits<double>::quiet_NaN() : small_float(magnitude, 3, 7);
  return (value.bits & 0x80U) != 0 ? -result : result;
}

double as_double(Float8E5m2 value) { return as_double(Float16{static_cast<std::uint16_t>(value.bits << 8)}); }

template <class T>
void decode_as(std::span<const std::uint8_t> bytes, std::vector<double>& values) {
  const std::size_t count = bytes.size() / sizeof(T);
  values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = as_double(element);
  }
}

// To `bits` bits of significand; the exponent of the least subnormal number is `least`.
// `beyond`: the first power of two that is too large.
double rounded_to_bits(double value, int bits, int least, double beyond) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value) - (bits - 1), least);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  return std::abs(rounded) < beyond ? rounded : std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace

bool decode(Dtype dtype, std::span<const std::uint8_t> bytes, std::vector<double>& values) {
  switch (dtype) {
    case Dtype::kUint8:
    case Dtype::kBool:
      decode_as<std::uint8_t>(bytes, values);
      return true;
    case Dtype::kInt8:
      decode_as<std::int8_t>(bytes, values);
      return true;
    case Dtype::kInt16:
      decode_as<std::int16_t>(bytes, values);
      return true;
    case Dtype::kUint16:
      decode_as<std::uint16_t>(bytes, values);
      return true;
    case Dtype::kInt32:
      decode_as<std::int32_t>(bytes, values);
      return true;
    case Dtype::kUint32:
      decode_as<std::uint32_t>(bytes, values);
      return true;
    case Dtype::kInt64:
      decode_as<std::int64_t>(bytes, values);
      return true;
    case Dtype::kUint64:
      decode_as<std::uint64_t>(bytes, values);
      return true;
    case Dtype::kFloat16:
      decode_as<Float16>(bytes, values);
      return true;
    case Dtype::kBfloat16:
      decode_as<Bfloat16>(bytes, values);
      return true;
    case Dtype::kFloat32:
      decode_as<float>(bytes, values);
      return true;
    case Dtype::kFloat64:
      decode_as<double>(bytes, values);
      return true;
    case Dtype::kFloat8E4m3:
      decode_as<Float8E4m3>(bytes, values);
      return true;
    case Dtype::kFloat8E5m2:
      decode_as<Float8E5m2>(bytes, values);
      return true;
    case Dtype::kUnknown:
    case Dtype::kComplex64:
    case Dtype::kComplex128:
      break;
  }
  values.clear();
  return false;
}

bool is_floating(Dtype dtype) { return unit_roundoff(dtype) > 0; }

double unit_roundoff(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
      return 0x1p-53;
    case Dtype::kFloat32:
      return 0x1p-24;
    case Dtype::kFloat16:
      return 0x1p-11;
    case Dtype::kBfloat16:
      return 0x1p-8;
    case Dtype::kFloat8E4m3:
      return 0x1p-4;
    case Dtype::kFloat8E5m2:
      return 0x1p-3;
    default:
      return 0;
  }
}

double underflow_error(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
      return 0x1p-1022;
    case Dtype::kFloat32:
    case Dtype::kBfloat16:
      return 0x1p-126;
    case Dtype::kFloat16:
      return 0x1p-25;
    case Dtype::kFloat8E4m3:
      return 0x1p-10;
    case Dtype::kFloat8E5m2:
      return 0x1p-17;
    default:
      return 0;
  }
}

double rounded_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kFloat32:
      return static_cast<float>(value);
    case Dtype::kBfloat16:
      return rounded_to_bits(value, 8, -133, 0x1p128);
    case Dtype::kFloat16:
      return rounded_to_bits(value, 11, -24, 0x1p16);
    default:
      return value;
  }
}

std::uint16_t float16_bits(double value) {
  constexpr double kLeastNormal = 0x1p-14;
  const unsigned sign = std::signbit(value) ? 0x8000U : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  const double magnitude = std::abs(rounded_to(Dtype::kFloat16, value));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < kLeastNormal) return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
  const int exponent = std::ilogb(magnitude);
  // The leading one of the fraction adds the last one to the exponent's field.
  const auto fraction = static_cast<unsigned>(std::ldexp(magnitude, 10 - exponent));
  return static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10) + fraction));
}

bool is_narrow(Dtype dtype) { return is_floating(dtype) && recorder::size_of(dtype) <= 2; }

}  // namespace plumbline::checks
