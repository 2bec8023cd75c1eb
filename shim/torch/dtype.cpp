#include "shim/torch/dtype.hpp"

namespace plumbline::shim::adapter {

using recorder::Dtype;

Dtype dtype_of(c10::ScalarType type) noexcept {
  switch (type) {
    case c10::ScalarType::Byte:
      return Dtype::kUint8;
    case c10::ScalarType::Char:
      return Dtype::kInt8;
    case c10::ScalarType::Short:
      return Dtype::kInt16;
    case c10::ScalarType::Int:
      return Dtype::kInt32;
    case c10::ScalarType::Long:
      return Dtype::kInt64;
    case c10::ScalarType::UInt16:
      return Dtype::kUint16;
    case c10::ScalarType::UInt32:
      return Dtype::kUint32;
    case c10::ScalarType::UInt64:
      return Dtype::kUint64;
    case c10::ScalarType::Half:
      return Dtype::kFloat16;
    case c10::ScalarType::Float:
      return Dtype::kFloat32;
    case c10::ScalarType::Double:
      return Dtype::kFloat64;
    case c10::ScalarType::BFloat16:
      return Dtype::kBfloat16;
    case c10::ScalarType::Bool:
      return Dtype::kBool;
    case c10::ScalarType::ComplexFloat:
      return Dtype::kComplex64;
    case c10::ScalarType::ComplexDouble:
      return Dtype::kComplex128;
    case c10::ScalarType::Float8_e4m3fn:
      return Dtype::kFloat8E4m3;
    case c10::ScalarType::Float8_e5m2:
      return Dtype::kFloat8E5m2;
    default:
      return Dtype::kUnknown;
  }
}

}  // namespace plumbline::shim::adapter
