#include "shim/torch/callable.hpp"

namespace plumbline::shim::adapter {

Ref make_callable(const char* name, PyCallFunction function) noexcept {
  PyTypeSlot slots[] = {{kSlotCall, function}, {0, nullptr}};
  PyTypeSpec spec = {name, 0, 0, 0, slots};
  const Ref type(python()->PyType_FromSpec(&spec));
  return type ? Ref(python()->PyObject_CallFunctionObjArgs(type.get(), nullptr)) : Ref();
}

}  // namespace plumbline::shim::adapter
