#include "shim/torch/statistics.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstring>

namespace plumbline::shim::adapter {
namespace {

using recorder::CaptureStatistics;
using recorder::Dtype;

// Sixteen-bit and smaller floats become double by way of float.
template <class T>
double wide(T value) {
  if constexpr (sizeof(T) < sizeof(float) && !std::is_integral_v<T>) return static_cast<float>(value);
  return static_cast<double>(value);
}

template <class T>
CaptureStatistics count(const std::uint8_t* data, std::uint64_t elements) {
  CaptureStatistics found{elements, 0, 0, 0, 0, 0, 0};
  double squares = 0;
  for (std::uint64_t i = 0; i < elements; ++i) {
    T element;
    std::memcpy(&element, data + i * sizeof(T), sizeof(T));
    const double value = wide(element);
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? found.nans : found.infs);
      continue;
    }
    found.sum += value;
    squares += value * value;
    found.absmax = std::max(found.absmax, std::fabs(value));
    found.zeros += value == 0 ? 1 : 0;
  }
  found.norm = std::sqrt(squares);
  return found;
}

}  // namespace

CaptureStatistics statistics_of(const std::uint8_t* data, Dtype dtype, std::uint64_t elements) {
  switch (dtype) {
    case Dtype::kUnknown:
      break;
    case Dtype::kUint8:
    case Dtype::kBool:
      return count<std::uint8_t>(data, elements);
    case Dtype::kInt8:
      return count<std::int8_t>(data, elements);
    case Dtype::kInt16:
      return count<std::int16_t>(data, elements);
    case Dtype::kInt32:
      return count<std::int32_t>(data, elements);
    case Dtype::kInt64:
      return count<std::int64_t>(data, elements);
    case Dtype::kUint16:
      return count<std::uint16_t>(data, elements);
    case Dtype::kUint32:
      return count<std::uint32_t>(data, elements);
    case Dtype::kUint64:
      return count<std::uint64_t>(data, elements);
    case Dtype::kFloat16:
      return count<c10::Half>(data, elements);
    case Dtype::kBfloat16:
      return count<c10::BFloat16>(data, elements);
    case Dtype::kFloat8E4m3:
      return count<c10::Float8_e4m3fn>(data, elements);
    case Dtype::kFloat8E5m2:
      return count<c10::Float8_e5m2>(data, elements);
    case Dtype::kFloat32:
      return count<float>(data, elements);
    case Dtype::kFloat64:
      return count<double>(data, elements);
    case Dtype::kComplex64:
      return count<float>(data, 2 * elements);
    case Dtype::kComplex128:
      return count<double>(data, 2 * elements);
  }
  return {};
}

}  // namespace plumbline::shim::adapter
