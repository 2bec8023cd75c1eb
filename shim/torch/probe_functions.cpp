#include "shim/torch/probe_functions.hpp"

#include <exception>

#include "shim/torch/callable.hpp"
#include "shim/torch/glue.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/module_path.hpp"
#include "shim/torch/operator_probes.hpp"
#include "shim/torch/probe_window.hpp"

namespace plumbline::shim::adapter {
namespace {

PyObject* none() noexcept { return python()->Py_BuildValue(""); }

std::string text(PyObject* object) {
  const char* const found = text_of(object);
  return found != nullptr ? found : "";
}

// Runs what can fail for lack of memory; None then.
template <class Work>
PyObject* guarded(const Work& work) noexcept {
  try {
    return work();
  } catch (const std::exception&) {
    return none();
  }
}

// run_guarded(function, *arguments): the function's result. What goes wrong in it is told as a fact, and gives None.
PyObject* run_guarded(PyObject*, PyObject* arguments, PyObject*) {
  Ref result = call_glue("apply", Ref(python()->Py_BuildValue("(O)", arguments)));
  if (result) return result.release();
  return python()->PyErr_Occurred() != nullptr ? nullptr : none();
}

PyObject* step(PyObject*, PyObject* const*, PySsize) {
  return python()->Py_BuildValue("L", static_cast<long long>(window_step()));
}

PyObject* occurrence(PyObject*, PyObject* const* arguments, PySsize count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) return none();
    return python()->Py_BuildValue("I", next_occurrence(text(arguments[0]), text(arguments[1])));
  });
}

PyObject* fired(PyObject*, PyObject* const* arguments, PySsize count) {
  return guarded([&] {
    if (count == 1) count_probe(text(arguments[0]));
    return none();
  });
}

PyObject* counts(PyObject*, PyObject* const*, PySsize) {
  return guarded([&] { return python()->PyUnicode_FromString(probe_counts().c_str()); });
}

PyObject* enter(PyObject*, PyObject* const* arguments, PySsize count) {
  return guarded([&] {
    if (count == 1) enter_module(text(arguments[0]));
    return none();
  });
}

PyObject* leave(PyObject*, PyObject* const*, PySsize) {
  leave_module();
  return none();
}

PyObject* description(PyObject*, PyObject* const*, PySsize) {
  return python()->PyUnicode_FromString(host().probe_template());
}

// add_operator_place(name, probe, output, selector)
PyObject* operator_place(PyObject*, PyObject* const* arguments, PySsize count) {
  return guarded([&] {
    if (count == 4) {
      add_operator_place(text(arguments[0]), text(arguments[1]), python()->PyObject_IsTrue(arguments[2]) == 1,
                         text(arguments[3]));
    }
    return none();
  });
}

PyMethodDef kFunctions[] = {
    {"window_step", step, kMethodFastCall, nullptr},
    {"next_occurrence", occurrence, kMethodFastCall, nullptr},
    {"count_probe", fired, kMethodFastCall, nullptr},
    {"probe_counts", counts, kMethodFastCall, nullptr},
    {"enter_module", enter, kMethodFastCall, nullptr},
    {"leave_module", leave, kMethodFastCall, nullptr},
    {"probe_template", description, kMethodFastCall, nullptr},
    {"add_operator_place", operator_place, kMethodFastCall, nullptr},
};

}  // namespace

bool add_probe_functions(PyObject* globals) noexcept {
  const Python& py = *python();
  for (PyMethodDef& method : kFunctions) {
    const Ref function(py.PyCFunction_NewEx(&method, nullptr, nullptr));
    if (!function || py.PyDict_SetItemString(globals, method.name, function.get()) != 0) return false;
  }
  const Ref runner = make_callable("plumbline.run_guarded", run_guarded);
  return runner && py.PyDict_SetItemString(globals, "run_guarded", runner.get()) == 0;
}

}  // namespace plumbline::shim::adapter
