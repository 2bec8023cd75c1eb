#include "shim/torch/glue_functions.hpp"

#include <ATen/core/Tensor.h>

#include <exception>
#include <limits>
#include <string>

#include "shim/torch/capture_tensor.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/step_numbers.hpp"
#include "shim/torch/tensor_peek.hpp"

namespace plumbline::shim::adapter {
namespace {

PyObject* boolean(bool value) noexcept { return python()->PyBool_FromLong(value ? 1 : 0); }

std::string text(PyObject* object) {
  const char* const found = text_of(object);
  return found != nullptr ? found : "";
}

at::Tensor tensor_in(PyObject* object) {
  const c10::TensorImpl* const impl = tensor_of(object);
  if (impl == nullptr) return {};
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::unsafe_reclaim_from_nonowning(
      const_cast<c10::TensorImpl*>(impl)));
}

template <class T>
std::vector<T> numbers(PyObject* tuple) {
  const Python& py = *python();
  std::vector<T> found;
  if (!is_instance(tuple, py.PyTuple_Type)) return found;
  const PySsize size = py.PyTuple_Size(tuple);
  for (PySsize i = 0; i < size; ++i) {
    found.push_back(static_cast<T>(py.PyLong_AsSsize_t(py.PyTuple_GetItem(tuple, i))));
  }
  return found;
}

// (placement, global shape, offset, replicas)
void read_place(PyObject* place, CaptureTarget& target) {
  const Python& py = *python();
  if (!is_instance(place, py.PyTuple_Type) || py.PyTuple_Size(place) != 4) return;
  target.placement = text(py.PyTuple_GetItem(place, 0));
  target.global_shape = numbers<std::uint64_t>(py.PyTuple_GetItem(place, 1));
  target.offset = numbers<std::uint64_t>(py.PyTuple_GetItem(place, 2));
  target.replicas = numbers<std::int32_t>(py.PyTuple_GetItem(place, 3));
}

// capture(value, probe, name, step, occurrence, key, detail, place=None, interval=None): value is a tensor, a number,
// or None for a note.
PyObject* capture(PyObject*, PyObject* const* arguments, PySsize count) {
  const Python& py = *python();
  if (count < 7) return boolean(false);
  try {
    CaptureTarget target;
    target.probe = text(arguments[1]);
    target.name = text(arguments[2]);
    target.step = py.PyLong_AsSsize_t(arguments[3]);
    target.occurrence = static_cast<std::uint32_t>(py.PyLong_AsSsize_t(arguments[4]));
    target.key = reinterpret_cast<std::uint64_t>(py.PyLong_AsVoidPtr(arguments[5]));
    target.detail = text(arguments[6]);
    if (count > 7) read_place(arguments[7], target);
    Interval interval;
    if (const auto stretch = numbers<std::int64_t>(count > 8 ? arguments[8] : nullptr); stretch.size() == 2) {
      interval = {stretch[0], stretch[1]};
    }
    PyObject* const value = arguments[0];
    if (py.PyErr_Occurred() != nullptr) return nullptr;
    if (const at::Tensor tensor = tensor_in(value); tensor.defined()) {
      return boolean(capture_tensor(tensor, target, interval));
    }
    if (!is_instance(value, py.PyFloat_Type) && !is_instance(value, py.PyLong_Type)) {
      return boolean(capture_note(target));
    }
    const double number = is_instance(value, py.PyFloat_Type) ? py.PyFloat_AsDouble(value) : py.PyLong_AsDouble(value);
    if (py.PyErr_Occurred() != nullptr) return nullptr;
    return boolean(capture_number(number, target));
  } catch (const std::exception&) {
    return boolean(false);
  }
}

// number_of(tensor): the value of a tensor of one element on any device, else None.
PyObject* number_of(PyObject*, PyObject* const* arguments, PySsize count) {
  const Python& py = *python();
  try {
    const at::Tensor tensor = tensor_in(count == 1 ? arguments[0] : nullptr);
    TensorElements elements(tensor, {});
    const std::uint8_t* const data = elements.readable() && elements.count() == 1 ? elements.all() : nullptr;
    if (data == nullptr) return py.Py_BuildValue("");
    return py.Py_BuildValue("d", number_at(data, tensor.scalar_type()));
  } catch (const std::exception&) {
    return py.Py_BuildValue("");
  }
}

PyObject* wanted(PyObject*, PyObject* const* arguments, PySsize count) {
  const char* const probe = count == 1 ? text_of(arguments[0]) : nullptr;
  return boolean(probe != nullptr && is_wanted(probe));
}

PyObject* step_chosen(PyObject*, PyObject* const* arguments, PySsize count) {
  const PySsize step = count == 1 ? python()->PyLong_AsSsize_t(arguments[0]) : -1;
  return boolean(step >= 0 && host().active() && host().capture_step(step));
}

// next_step(): number of the step of the first optimizer that comes next.
PyObject* next_step(PyObject*, PyObject* const*, PySsize) {
  return python()->Py_BuildValue("L", static_cast<long long>(next_step_number()));
}

PyObject* fact(PyObject*, PyObject* const* arguments, PySsize count) {
  const char* const key = count == 2 ? text_of(arguments[0]) : nullptr;
  const char* const value = count == 2 ? text_of(arguments[1]) : nullptr;
  if (key != nullptr && value != nullptr) host().fact(key, value);
  return python()->Py_BuildValue("");
}

PyObject* flush(PyObject*, PyObject* const*, PySsize) {
  host().flush_captures();
  return python()->Py_BuildValue("");
}

PyObject* nan_fill(PyObject*, PyObject* const*, PySsize) { return boolean(host().nan_fill()); }

PyMethodDef kFunctions[] = {
    {"capture", capture, kMethodFastCall, nullptr},      {"number_of", number_of, kMethodFastCall, nullptr},
    {"wanted", wanted, kMethodFastCall, nullptr},        {"step_chosen", step_chosen, kMethodFastCall, nullptr},
    {"next_step", next_step, kMethodFastCall, nullptr},  {"fact", fact, kMethodFastCall, nullptr},
    {"flush_captures", flush, kMethodFastCall, nullptr}, {"nan_fill", nan_fill, kMethodFastCall, nullptr},
};

}  // namespace

bool add_glue_functions(PyObject* globals) noexcept {
  for (PyMethodDef& method : kFunctions) {
    const Ref function(python()->PyCFunction_NewEx(&method, nullptr, nullptr));
    if (!function || python()->PyDict_SetItemString(globals, method.name, function.get()) != 0) return false;
  }
  return true;
}

}  // namespace plumbline::shim::adapter
