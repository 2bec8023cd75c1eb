// Sum, norm, extremes and odd values of elements in host memory.
#pragma once

#include <cstdint>

#include "recorder/capture.hpp"

namespace plumbline::shim::adapter {

// Of complex numbers, real and imaginary parts count as elements of their own.
recorder::CaptureStatistics statistics_of(const std::uint8_t* data, recorder::Dtype dtype, std::uint64_t elements);

}  // namespace plumbline::shim::adapter
