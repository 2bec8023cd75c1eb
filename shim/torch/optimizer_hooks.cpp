#include "shim/torch/optimizer_hooks.hpp"

#include <atomic>

#include "shim/torch/host.hpp"
#include "shim/torch/open_step.hpp"
#include "shim/torch/param_groups.hpp"
#include "shim/torch/process_facts.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

PyObject* none() noexcept { return python()->Py_BuildValue(""); }

// Called as hook(optimizer, args, kwargs); None leaves the arguments alone.
PyObject* before_step(PyObject*, PyObject* const* arguments, PySsize count) {
  OpenStep* step = innermost_step();
  if (step == nullptr || step->entered || count < 1) return none();
  step->entered = true;
  ErrorGuard guard;
  record_param_groups(arguments[0], *step);
  return guard.drop() ? nullptr : none();
}

PyObject* after_step(PyObject*, PyObject* const*, PySsize) {
  if (OpenStep* step = innermost_step()) step->returned = true;
  return none();
}

// The public register functions run Python code, in which another thread could come to iterate the very dict that they
// change; setting the item ourselves is one step under the interpreter lock.
bool add_hook(PyObject* module, const char* hooks, PyMethodDef& method) {
  const Python& py = *python();
  const Ref dict = attribute(module, hooks);
  const Ref key(py.PyUnicode_FromString("plumbline"));
  const Ref function(py.PyCFunction_NewEx(&method, nullptr, nullptr));
  if (!dict || !key || !function) return false;
  return py.PyObject_SetItem(dict.get(), key.get(), function.get()) == 0;
}

}  // namespace

void install_optimizer_hooks() noexcept {
  static std::atomic<bool> done{false};
  if (done.load(std::memory_order_acquire)) return;
  const Gil gil;
  if (!gil || done.load(std::memory_order_acquire)) return;
  ErrorGuard guard;
  const Ref module = loaded_module("torch.optim.optimizer");
  if (!module) return;
  done.store(true, std::memory_order_release);

  static PyMethodDef before = {"plumbline_before_step", before_step, kMethodFastCall, nullptr};
  static PyMethodDef after = {"plumbline_after_step", after_step, kMethodFastCall, nullptr};
  const bool added = add_hook(module.get(), "_global_optimizer_pre_hooks", before) &&
                     add_hook(module.get(), "_global_optimizer_post_hooks", after);
  report_hook(kHookStep, true, added ? "with settings" : "without settings: torch.optim has no global step hooks");
  record_torch_facts();
}

}  // namespace plumbline::shim::adapter
