// CPython of the job, without its headers: the functions are looked up in the process, so that one build of the adapter
// serves every interpreter that this torch runs in.
//
// Everything here needs the interpreter lock, except python() and Gil itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace plumbline::shim::adapter {

struct PyObject;
struct PyTypeObject;
using PySsize = std::ptrdiff_t;

// A function as METH_FASTCALL takes it, and its description. The layout is part of CPython's stable ABI.
using PyFastFunction = PyObject* (*)(PyObject* self, PyObject* const* arguments, PySsize count);
struct PyMethodDef {
  const char* name;
  PyFastFunction function;
  int flags;
  const char* doc;
};
inline constexpr int kMethodFastCall = 0x0080;
inline constexpr int kFileInput = 257;  // Py_file_input

// A type whose objects can be called, as PyType_FromSpec takes it; also of the stable ABI.
using PyCallFunction = PyObject* (*)(PyObject* self, PyObject* arguments, PyObject* keywords);
struct PyTypeSlot {
  int slot;
  PyCallFunction function;
};
struct PyTypeSpec {
  const char* name;
  int basic_size;  // 0: as object's
  int item_size;
  unsigned flags;
  PyTypeSlot* slots;
};
inline constexpr int kSlotCall = 50;  // Py_tp_call

#define PLUMBLINE_PYTHON_FUNCTIONS(X)                                                                                 \
  X(int, Py_IsInitialized, ())                                                                                        \
  X(void*, PyGILState_GetThisThreadState, ())                                                                         \
  X(int, PyGILState_Ensure, ())                                                                                       \
  X(void, PyGILState_Release, (int state))                                                                            \
  X(void, Py_IncRef, (PyObject * object))                                                                             \
  X(void, Py_DecRef, (PyObject * object))                                                                             \
  X(PyObject*, Py_BuildValue, (const char* format, ...))                                                              \
  X(int, Py_AddPendingCall, (int (*function)(void*), void* argument))                                                 \
  X(PyObject*, PyErr_Occurred, ())                                                                                    \
  X(void, PyErr_Clear, ())                                                                                            \
  X(void, PyErr_Fetch, (PyObject * *type, PyObject * *value, PyObject * *trace))                                      \
  X(void, PyErr_Restore, (PyObject * type, PyObject * value, PyObject * trace))                                       \
  X(void, PyErr_SetInterrupt, ())                                                                                     \
  X(int, PyErr_ExceptionMatches, (PyObject * type))                                                                   \
  X(PyObject*, PyFunction_New, (PyObject * code, PyObject * globals))                                                 \
  X(PyObject*, PyEval_EvalCode, (PyObject * code, PyObject * globals, PyObject * locals))                             \
  X(PyObject*, PyObject_GetAttr, (PyObject * object, PyObject * name))                                                \
  X(PyObject*, PyObject_GetAttrString, (PyObject * object, const char* name))                                         \
  X(int, PyObject_SetItem, (PyObject * object, PyObject * key, PyObject * value))                                     \
  X(PyObject*, PyObject_CallFunctionObjArgs, (PyObject * callable, ...))                                              \
  X(int, PyObject_IsTrue, (PyObject * object))                                                                        \
  X(PyObject*, PyObject_Str, (PyObject * object))                                                                     \
  X(PyObject*, PyObject_CallObject, (PyObject * callable, PyObject * arguments))                                      \
  X(PyObject*, PyObject_Type, (PyObject * object))                                                                    \
  X(int, PyType_IsSubtype, (PyTypeObject * type, PyTypeObject * base))                                                \
  X(PyObject*, PyUnicode_FromString, (const char* text))                                                              \
  X(PyObject*, PyUnicode_InternFromString, (const char* text))                                                        \
  X(const char*, PyUnicode_AsUTF8, (PyObject * text))                                                                 \
  X(PyObject*, PyType_FromSpec, (PyTypeSpec * spec))                                                                  \
  X(PyObject*, PyCFunction_NewEx, (PyMethodDef * method, PyObject * self, PyObject * module))                         \
  X(PySsize, PyList_Size, (PyObject * list))                                                                          \
  X(PyObject*, PyList_GetItem, (PyObject * list, PySsize index))                                                      \
  X(int, PyList_Append, (PyObject * list, PyObject * item))                                                           \
  X(PyObject*, PyTuple_GetItem, (PyObject * tuple, PySsize index))                                                    \
  X(PySsize, PyTuple_Size, (PyObject * tuple))                                                                        \
  X(PyObject*, PyDict_GetItemWithError, (PyObject * dict, PyObject * key))                                            \
  X(int, PyDict_Next, (PyObject * dict, PySsize * position, PyObject * *key, PyObject * *value))                      \
  X(double, PyFloat_AsDouble, (PyObject * number))                                                                    \
  X(double, PyLong_AsDouble, (PyObject * number))                                                                     \
  X(PySsize, PyLong_AsSsize_t, (PyObject * number))                                                                   \
  X(void*, PyLong_AsVoidPtr, (PyObject * number))                                                                     \
  X(PyObject*, PyBool_FromLong, (long value))                                                                         \
  X(PyObject*, Py_CompileStringExFlags, (const char* source, const char* name, int start, void* flags, int optimize)) \
  X(PyObject*, PyDict_New, ())                                                                                        \
  X(int, PyDict_SetItemString, (PyObject * dict, const char* key, PyObject* value))                                   \
  X(PyObject*, PyDict_GetItemString, (PyObject * dict, const char* key))                                              \
  X(PyObject*, PyWeakref_NewRef, (PyObject * object, PyObject * callback))                                            \
  X(PyObject*, PySys_GetObject, (const char* name))                                                                   \
  X(int, PySys_SetObject, (const char* name, PyObject* value))

#define PLUMBLINE_PYTHON_TYPES(X) \
  X(PyFloat_Type)                 \
  X(PyLong_Type)                  \
  X(PyUnicode_Type)               \
  X(PyList_Type)                  \
  X(PyDict_Type)                  \
  X(PyTuple_Type)                 \
  X(PyCode_Type)

struct Python {
#define PLUMBLINE_PYTHON_MEMBER(result, name, parameters) result(*name) parameters;
  PLUMBLINE_PYTHON_FUNCTIONS(PLUMBLINE_PYTHON_MEMBER)
#undef PLUMBLINE_PYTHON_MEMBER
#define PLUMBLINE_PYTHON_MEMBER(name) PyTypeObject* name;
  PLUMBLINE_PYTHON_TYPES(PLUMBLINE_PYTHON_MEMBER)
#undef PLUMBLINE_PYTHON_MEMBER
  PyObject** PyExc_Exception;
  int (*is_finalizing)();  // Py_IsFinalizing, or the private name that it had before 3.13
  const char* missing;     // the first name that was not found, null when all are there
};

// Null when the process has no usable CPython; python_missing() then names what was not found.
const Python* python() noexcept;
const char* python_missing() noexcept;

// Holds the interpreter lock while it lives. Not held (false) when the interpreter is gone or going.
class Gil {
 public:
  Gil() noexcept;
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_ = false;
  int state_ = 0;
};

// An owned reference.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* object) noexcept : object_(object) {}
  ~Ref() {
    if (object_ != nullptr) python()->Py_DecRef(object_);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Keeps our own failed look-ups out of the job: an error that was set before is put back at the end, and one of ours is
// dropped. Except for one that is no Exception: a Ctrl-C that arrives while we are inside is the job's, not ours.
class ErrorGuard {
 public:
  ErrorGuard() noexcept;
  ~ErrorGuard();
  ErrorGuard(const ErrorGuard&) = delete;
  ErrorGuard& operator=(const ErrorGuard&) = delete;

  // Drops an error of ours. True when one stays that the job must get.
  bool drop() noexcept;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* trace_ = nullptr;
};

bool is_instance(PyObject* object, PyTypeObject* type) noexcept;

// An attribute or an item of a dict; empty without one, and the error is dropped unless the job must get it.
Ref attribute(PyObject* object, const char* name) noexcept;

// A module in sys.modules (borrowed), else null. Never imports, and never waits for an import.
PyObject* loaded_module(const char* name) noexcept;

// True once the import of a module has come to its end: until then parts of it are missing or half made.
bool is_imported(const char* name) noexcept;

// Text of a str, else null. Lives as long as the object.
const char* text_of(PyObject* object) noexcept;

}  // namespace plumbline::shim::adapter
