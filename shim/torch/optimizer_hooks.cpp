#include "shim/torch/optimizer_hooks.hpp"

#include "shim/torch/callable.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/open_step.hpp"
#include "shim/torch/optimizer_captures.hpp"
#include "shim/torch/param_groups.hpp"
#include "shim/torch/probe_window.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

PyObject* none() noexcept { return python()->Py_BuildValue(""); }

// None leaves the arguments of step() alone.
PyObject* enter_step(PyObject*, PyObject* arguments, PyObject*) {
  OpenStep* step = innermost_step();
  if (step == nullptr || step->entered) return none();
  step->entered = true;
  host().hook_fired(kHookPython);
  ErrorGuard guard;
  record_param_groups(python()->PyTuple_GetItem(arguments, 0), *step);
  if (!guard.drop()) capture_before_step(arguments, *step);
  return guard.drop() ? nullptr : none();
}

PyObject* leave_step(PyObject*, PyObject* arguments, PyObject*) {
  OpenStep* step = innermost_step();
  if (step == nullptr) return none();
  step->returned = true;
  ErrorGuard guard;
  capture_after_step(arguments, *step);
  if (step->depth == 0) move_window();
  return guard.drop() ? nullptr : none();
}

// What torch.optim calls around a step. A compiler that traces the step inlines this function; `record`, which it
// calls, breaks its graph. The optimizers of torch.optim break theirs before they compute anything, so for them it
// changes nothing; the step of another class may be compiled whole, and is then left alone, unrecorded.
constexpr const char* kHook = R"(
def hook(optimizer, args, kwargs):
    if is_compiling() and not type(optimizer).__module__.startswith("torch.optim."):
        return None
    return record(optimizer, args, kwargs)
)";

// The one function that a source defines, made without running any Python code: that could run signal handlers of the
// job, here where nothing could take their exception.
Ref compile_function(const char* source, PyObject* globals) {
  const Python& py = *python();
  const Ref module(py.Py_CompileStringExFlags(source, "<plumbline>", kFileInput, nullptr, -1));
  const Ref constants = attribute(module.get(), "co_consts");
  if (!constants) return Ref();
  for (PySsize i = 0;; ++i) {
    PyObject* const constant = py.PyTuple_GetItem(constants.get(), i);
    if (constant == nullptr) return Ref();
    if (is_instance(constant, py.PyCode_Type)) return Ref(py.PyFunction_New(constant, globals));
  }
}

// The globals have no __name__: torch.compile would import the module of that name.
Ref make_hook(const Ref& record) {
  const Python& py = *python();
  const Ref globals(py.PyDict_New());
  const Ref is_compiling = attribute(loaded_module("torch.compiler"), "is_compiling");
  PyObject* const builtins = loaded_module("builtins");
  if (!globals || !record || !is_compiling || builtins == nullptr) return Ref();
  if (py.PyDict_SetItemString(globals.get(), "__builtins__", builtins) != 0 ||
      py.PyDict_SetItemString(globals.get(), "is_compiling", is_compiling.get()) != 0 ||
      py.PyDict_SetItemString(globals.get(), "record", record.get()) != 0) {
    return Ref();
  }
  return compile_function(kHook, globals.get());
}

// The public register functions run Python code, in which another thread could come to iterate the very dict that they
// change; setting the item ourselves is one step under the interpreter lock.
bool add_hook(PyObject* module, const char* hooks, const Ref& function) {
  const Ref dict = attribute(module, hooks);
  const Ref key(python()->PyUnicode_FromString("plumbline"));
  if (!dict || !key || !function) return false;
  return python()->PyObject_SetItem(dict.get(), key.get(), function.get()) == 0;
}

}  // namespace

bool add_optimizer_hooks() noexcept {
  PyObject* const module = loaded_module("torch.optim.optimizer");
  return add_hook(module, "_global_optimizer_pre_hooks",
                  make_hook(make_callable("plumbline.enter_step", enter_step))) &&
         add_hook(module, "_global_optimizer_post_hooks", make_hook(make_callable("plumbline.leave_step", leave_step)));
}

}  // namespace plumbline::shim::adapter
