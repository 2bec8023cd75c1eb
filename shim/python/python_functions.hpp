// The few functions of CPython that the preload object calls, looked up in the process. All but those of Interpreter
// need the interpreter lock.
#pragma once

#include <cstddef>
#include <type_traits>

namespace plumbline::shim::python {

struct Object;

#define PLUMBLINE_FRAME_FUNCTIONS(X)                                      \
  X(const char*, Py_GetVersion, ())                                       \
  X(void*, PyGILState_GetThisThreadState, ())                             \
  X(Object*, PyEval_GetFrame, ())                                         \
  X(Object*, PyFrame_GetBack, (Object * frame))                           \
  X(Object*, PyFrame_GetCode, (Object * frame))                           \
  X(int, PyFrame_GetLineNumber, (Object * frame))                         \
  X(Object*, PyObject_GetAttrString, (Object * object, const char* name)) \
  X(const char*, PyUnicode_AsUTF8, (Object * text))                       \
  X(Object*, PySys_GetObject, (const char* name))                         \
  X(Object*, PyDict_GetItemString, (Object * dict, const char* key))      \
  X(void, PyErr_Clear, ())                                                \
  X(void, Py_IncRef, (Object * object))                                   \
  X(void, Py_DecRef, (Object * object))

struct Functions {
#define PLUMBLINE_FRAME_MEMBER(result, name, parameters) std::add_pointer_t<result parameters> name;
  PLUMBLINE_FRAME_FUNCTIONS(PLUMBLINE_FRAME_MEMBER)
#undef PLUMBLINE_FRAME_MEMBER
};

// Null when the process has no CPython, or one that lacks any of them.
const Functions* functions() noexcept;

// Drops a reference at the end of its life.
class Reference {
 public:
  Reference(const Functions& functions, Object* object) noexcept : functions_(functions), object_(object) {}
  ~Reference() {
    if (object_ != nullptr) functions_.Py_DecRef(object_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  Object* get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  const Functions& functions_;
  Object* object_;
};

}  // namespace plumbline::shim::python
