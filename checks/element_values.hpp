// Captured elements as doubles, whatever their dtype; and the rounding of a dtype, so that results can be compared.
//
//   std::vector<double> values;
//   if (decode(capture.dtype, bytes, values)) use(values);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::checks {

// False for what is no real number: complex, unknown. Integers beyond 2^53 are rounded.
bool decode(recorder::Dtype dtype, std::span<const std::uint8_t> bytes, std::vector<double>& values);

bool is_floating(recorder::Dtype dtype);

// Relative error of one rounding to nearest, 2^-p for a significand of p bits; 0 for integers.
double unit_roundoff(recorder::Dtype dtype);

// Absolute error of one rounding among the smallest numbers, also where a device flushes subnormals to zero.
double underflow_error(recorder::Dtype dtype);

// `value` rounded to nearest even in bfloat16, float16 or float32; other dtypes leave it as it is.
double rounded_to(recorder::Dtype dtype, double value);

// The float16 nearest to `value`, ties to even.
std::uint16_t float16_bits(double value);

// At most 16 bits wide.
bool is_narrow(recorder::Dtype dtype);

}  // namespace plumbline::checks
