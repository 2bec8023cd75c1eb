// Bytes of an element.
#pragma once

#include <cstddef>

#include "recorder/event.hpp"

namespace plumbline::recorder {

// 0 where the type is not known.
constexpr std::size_t size_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::kUnknown:
      return 0;
    case Dtype::kUint8:
    case Dtype::kInt8:
    case Dtype::kBool:
    case Dtype::kFloat8E4m3:
    case Dtype::kFloat8E5m2:
      return 1;
    case Dtype::kInt16:
    case Dtype::kUint16:
    case Dtype::kFloat16:
    case Dtype::kBfloat16:
      return 2;
    case Dtype::kInt32:
    case Dtype::kUint32:
    case Dtype::kFloat32:
      return 4;
    case Dtype::kInt64:
    case Dtype::kUint64:
    case Dtype::kFloat64:
    case Dtype::kComplex64:
      return 8;
    case Dtype::kComplex128:
      return 16;
  }
  return 0;
}

}  // namespace plumbline::recorder
