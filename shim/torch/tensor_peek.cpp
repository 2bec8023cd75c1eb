#include "shim/torch/tensor_peek.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <cstring>
#include <exception>
#include <limits>

namespace plumbline::shim::adapter {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// torch._C.TensorBase, the class that fixes the layout of every Python tensor, and where in it the pointer to the
// TensorImpl lies. The offset is found once by comparing a tensor's memory with its `_cdata`: reading `_cdata` itself
// may run a TorchFunctionMode of the job, so that is done for one tensor and never again.
struct Layout {
  PyTypeObject* type = nullptr;
  PySsize offset = 0;  // 0: not found
};

PySsize basic_size(PyObject* type) noexcept {
  const Ref size = attribute(type, "__basicsize__");
  return size ? python()->PyLong_AsSsize_t(size.get()) : 0;
}

PySsize find_offset(PyObject* tensor, PyObject* type) noexcept {
  const Ref address = attribute(tensor, "_cdata");
  if (!address) return 0;
  void* const wanted = python()->PyLong_AsVoidPtr(address.get());
  if (wanted == nullptr) return 0;
  const auto* memory = reinterpret_cast<const char*>(tensor);
  constexpr PySsize kWord = sizeof(void*);
  for (PySsize offset = 2 * kWord; offset + kWord <= basic_size(type); offset += kWord) {
    if (std::memcmp(memory + offset, &wanted, sizeof wanted) == 0) return offset;
  }
  return 0;
}

PyTypeObject* tensor_type() noexcept {
  Ref type = attribute(loaded_module("torch._C"), "TensorBase");
  return reinterpret_cast<PyTypeObject*>(type.release());
}

// Gives access to a protected member; no object of it is ever made.
struct Peek : c10::TensorImpl {
  static std::int64_t numel(const c10::TensorImpl& tensor) { return (tensor.*(&Peek::numel_default))(); }
};

template <class T>
double load(const void* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof value);
  return static_cast<double>(value);
}

// Its number stands in host memory as it is: a view of conjugated or negated numbers has others there.
bool is_plain_cpu(c10::DispatchKeySet keys) {
  using c10::DispatchKey;
  for (const auto key : {DispatchKey::Python, DispatchKey::Functionalize, DispatchKey::Sparse, DispatchKey::Conjugate,
                         DispatchKey::Negative, DispatchKey::ZeroTensor}) {
    if (keys.has(key)) return false;
  }
  return keys.has(DispatchKey::CPU);
}

// A storage may have been freed under its tensor.
bool is_in_storage(const c10::TensorImpl& tensor) {
  const auto end = (static_cast<std::size_t>(tensor.storage_offset()) + 1) * tensor.itemsize();
  return tensor.has_storage() && end <= tensor.unsafe_storage().nbytes();
}

}  // namespace

const c10::TensorImpl* tensor_of(PyObject* object) noexcept {
  static Layout layout;  // guarded by the interpreter lock
  if (object == nullptr) return nullptr;
  if (layout.type == nullptr) layout.type = tensor_type();
  if (layout.type == nullptr || !is_instance(object, layout.type)) return nullptr;
  if (layout.offset == 0) layout.offset = find_offset(object, reinterpret_cast<PyObject*>(layout.type));
  if (layout.offset == 0) return nullptr;
  const c10::TensorImpl* tensor = nullptr;
  std::memcpy(&tensor, reinterpret_cast<const char*>(object) + layout.offset, sizeof tensor);
  return tensor;
}

bool has_grad(const c10::TensorImpl& tensor) noexcept {
  try {
    return tensor.grad().defined();
  } catch (const std::exception&) {
    return false;
  }
}

std::uint64_t elements_of(const c10::TensorImpl& tensor) noexcept {
  try {
    return static_cast<std::uint64_t>(Peek::numel(tensor));
  } catch (const std::exception&) {
    return 0;
  }
}

double number_at(const void* address, c10::ScalarType type) noexcept {
  switch (type) {
    case c10::ScalarType::Float:
      return load<float>(address);
    case c10::ScalarType::Double:
      return load<double>(address);
    case c10::ScalarType::Byte:
    case c10::ScalarType::Bool:
      return load<std::uint8_t>(address);
    case c10::ScalarType::Char:
      return load<std::int8_t>(address);
    case c10::ScalarType::Short:
      return load<std::int16_t>(address);
    case c10::ScalarType::UInt16:
      return load<std::uint16_t>(address);
    case c10::ScalarType::UInt32:
      return load<std::uint32_t>(address);
    case c10::ScalarType::UInt64:
      return load<std::uint64_t>(address);
    case c10::ScalarType::Int:
      return load<std::int32_t>(address);
    case c10::ScalarType::Long:
      return load<std::int64_t>(address);
    case c10::ScalarType::Half:
      return static_cast<double>(static_cast<float>(*static_cast<const c10::Half*>(address)));
    case c10::ScalarType::BFloat16:
      return static_cast<double>(static_cast<float>(*static_cast<const c10::BFloat16*>(address)));
    default:
      return kNan;
  }
}

double scalar_of(const c10::TensorImpl& tensor) noexcept {
  try {
    if (!is_plain_cpu(tensor.key_set()) || elements_of(tensor) != 1 || !is_in_storage(tensor)) return kNan;
    return number_at(tensor.data(), c10::typeMetaToScalarType(tensor.dtype()));
  } catch (const std::exception&) {
    return kNan;
  }
}

}  // namespace plumbline::shim::adapter
