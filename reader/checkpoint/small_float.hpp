// Floating types of 8 and 16 bits, by their layout: sign, `exponent_bits`, `mantissa_bits`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace plumbline::reader {

struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  // Has infinities, and NaNs in all of the highest exponent; without, only the highest code is NaN and nothing is
  // infinite.
  bool ieee;

  constexpr int lowest_exponent() const { return 1 - bias; }
  constexpr std::uint32_t infinity() const { return ((1U << exponent_bits) - 1U) << mantissa_bits; }
  constexpr std::uint32_t all_ones() const { return (1U << (exponent_bits + mantissa_bits)) - 1U; }

  float decode(std::uint32_t bits) const {
    const std::uint32_t magnitude = bits & all_ones();
    const float sign = bits > magnitude ? -1.0F : 1.0F;
    if (ieee && magnitude >= infinity()) {
      return magnitude == infinity() ? sign * std::numeric_limits<float>::infinity()
                                     : std::numeric_limits<float>::quiet_NaN();
    }
    if (!ieee && magnitude == all_ones()) return std::numeric_limits<float>::quiet_NaN();
    const std::uint32_t field = magnitude >> mantissa_bits;
    const std::uint32_t fraction = magnitude & ((1U << mantissa_bits) - 1U);
    const std::uint32_t whole = field == 0 ? fraction : fraction | 1U << mantissa_bits;
    const int exponent = std::max(static_cast<int>(field), 1) - bias - mantissa_bits;
    return sign * std::ldexp(static_cast<float>(whole), exponent);
  }

  // To the nearest, ties to even; what is too large becomes infinite, or NaN where there is no infinity.
  std::uint32_t encode(float value) const {
    const std::uint32_t sign = std::signbit(value) ? all_ones() + 1U : 0U;
    const std::uint32_t beyond = ieee ? infinity() : all_ones();
    if (std::isnan(value)) return sign | (ieee ? infinity() | 1U << (mantissa_bits - 1) : all_ones());
    const double size = std::fabs(static_cast<double>(value));
    if (std::isinf(size)) return sign | beyond;
    if (size == 0) return sign;
    int exponent = 0;
    std::frexp(size, &exponent);  // size = [0.5, 1) * 2^exponent
    exponent = std::max(exponent - 1, lowest_exponent());
    const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, mantissa_bits - exponent)));
    const std::uint64_t bits =
        (static_cast<std::uint64_t>(exponent - lowest_exponent()) << mantissa_bits) + steps;  // carries by itself
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, beyond));
  }
};

inline constexpr SmallFloat kHalf{5, 10, 15, true};
inline constexpr SmallFloat kE4M3{4, 3, 7, false};
inline constexpr SmallFloat kE5M2{5, 2, 15, true};

}  // namespace plumbline::reader
