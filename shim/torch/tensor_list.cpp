#include "shim/torch/tensor_list.hpp"

#include <limits>

#include "shim/torch/tensor_peek.hpp"

namespace plumbline::shim::adapter {
namespace {

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

// Read-only access, so that a lazily copied storage stays uncopied.
std::uint64_t address_of(const c10::TensorImpl& tensor) {
  if (!tensor.has_storage() || tensor.key_set().has(c10::DispatchKey::Python)) return 0;
  const auto start = reinterpret_cast<std::uint64_t>(tensor.unsafe_storage().data());
  if (start == 0) return 0;
  return start + static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.itemsize();
}

}  // namespace

void TensorList::add(const at::Tensor& tensor) {
  if (tensors < std::numeric_limits<std::uint16_t>::max()) ++tensors;
  if (!tensor.defined()) return;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  elements += elements_of(impl);
  if (tensors > 1) return;
  dtype = dtype_of(c10::typeMetaToScalarType(impl.dtype()));
  buffer = address_of(impl);
}

void TensorList::add(const std::vector<at::Tensor>& list) {
  for (const at::Tensor& tensor : list) add(tensor);
}

void TensorList::add(const std::vector<std::vector<at::Tensor>>& lists) {
  for (const auto& list : lists) add(list);
}

}  // namespace plumbline::shim::adapter
