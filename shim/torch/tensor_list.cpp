#include "shim/torch/tensor_list.hpp"

#include <limits>

#include "shim/torch/dtype.hpp"
#include "shim/torch/tensor_peek.hpp"

namespace plumbline::shim::adapter {
namespace {

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
