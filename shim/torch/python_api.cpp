#include "shim/torch/python_api.hpp"

#include <dlfcn.h>

namespace plumbline::shim::adapter {
namespace {

template <class T>
void find(T& slot, const char* name, const char*& missing) noexcept {
  slot = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  if (slot == nullptr && missing == nullptr) missing = name;
}

Python find_all() noexcept {
  Python found{};
#define PLUMBLINE_PYTHON_FIND(result, name, parameters) find(found.name, #name, found.missing);
  PLUMBLINE_PYTHON_FUNCTIONS(PLUMBLINE_PYTHON_FIND)
#undef PLUMBLINE_PYTHON_FIND
#define PLUMBLINE_PYTHON_FIND(name) find(found.name, #name, found.missing);
  PLUMBLINE_PYTHON_TYPES(PLUMBLINE_PYTHON_FIND)
#undef PLUMBLINE_PYTHON_FIND
  find(found.PyExc_Exception, "PyExc_Exception", found.missing);
  const char* only_private = nullptr;
  find(found.is_finalizing, "Py_IsFinalizing", only_private);
  if (only_private != nullptr) find(found.is_finalizing, "_Py_IsFinalizing", found.missing);
  return found;
}

const Python& all() noexcept {
  static const Python found = find_all();
  return found;
}

}  // namespace

const Python* python() noexcept { return all().missing == nullptr ? &all() : nullptr; }

const char* python_missing() noexcept { return all().missing; }

Gil::Gil() noexcept {
  const Python* py = python();
  if (py == nullptr || py->Py_IsInitialized() == 0 || py->is_finalizing() != 0) return;
  state_ = py->PyGILState_Ensure();
  held_ = true;
}

Gil::~Gil() {
  if (held_) python()->PyGILState_Release(state_);
}

ErrorGuard::ErrorGuard() noexcept { python()->PyErr_Fetch(&type_, &value_, &trace_); }

ErrorGuard::~ErrorGuard() {
  if (drop()) {
    for (PyObject* earlier : {type_, value_, trace_}) {
      if (earlier != nullptr) python()->Py_DecRef(earlier);
    }
    return;
  }
  if (type_ != nullptr) python()->PyErr_Restore(type_, value_, trace_);
}

bool ErrorGuard::drop() noexcept {
  const Python& py = *python();
  if (py.PyErr_Occurred() == nullptr) return false;
  if (py.PyErr_ExceptionMatches(*py.PyExc_Exception) == 0) return true;
  py.PyErr_Clear();
  return false;
}

bool is_instance(PyObject* object, PyTypeObject* type) noexcept {
  if (object == nullptr) return false;
  const Ref own(python()->PyObject_Type(object));
  return python()->PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(own.get()), type) != 0;
}

Ref attribute(PyObject* object, const char* name) noexcept {
  const Python& py = *python();
  if (object == nullptr || py.PyErr_Occurred() != nullptr) return Ref();
  Ref found(py.PyObject_GetAttrString(object, name));
  if (!found && py.PyErr_ExceptionMatches(*py.PyExc_Exception) != 0) py.PyErr_Clear();
  return found;
}

PyObject* loaded_module(const char* name) noexcept {
  PyObject* const modules = python()->PySys_GetObject("modules");
  return is_instance(modules, python()->PyDict_Type) ? python()->PyDict_GetItemString(modules, name) : nullptr;
}

bool is_imported(const char* name) noexcept {
  PyObject* const module = loaded_module(name);
  if (module == nullptr) return false;
  const Ref spec = attribute(module, "__spec__");
  const Ref initializing = attribute(spec.get(), "_initializing");
  return !initializing || python()->PyObject_IsTrue(initializing.get()) == 0;
}

const char* text_of(PyObject* object) noexcept {
  return is_instance(object, python()->PyUnicode_Type) ? python()->PyUnicode_AsUTF8(object) : nullptr;
}

}  // namespace plumbline::shim::adapter
