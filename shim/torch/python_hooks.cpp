#include "shim/torch/python_hooks.hpp"

#include <atomic>

#include "shim/torch/gc_pauses.hpp"
#include "shim/torch/glue.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/optimizer_hooks.hpp"
#include "shim/torch/probe_window.hpp"
#include "shim/torch/process_facts.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

// Guarded by the interpreter lock, which nothing in here gives up.
void install() noexcept {
  ErrorGuard guard;
  record_torch_facts();
  const bool exceptions = install_excepthook();
  if (!follow_garbage_collection()) host().fact("python.gc", "not followed: there is no gc.callbacks");
  report_hook(kHookPython, true, exceptions ? "" : "sys.excepthook could not be set");
  const bool steps = add_optimizer_hooks();
  install_watches();
  report_hook(kHookStep, true, steps ? "with settings" : "without settings: torch.optim has no global step hooks");
  move_window();
}

}  // namespace

void install_python_hooks() noexcept {
  static std::atomic<bool> done{false};
  if (done.load(std::memory_order_acquire)) return;
  const Python* py = python();
  if (py == nullptr || py->PyGILState_GetThisThreadState() == nullptr) return;
  const Gil gil;
  if (!gil || done.load(std::memory_order_acquire) || !is_imported("torch")) return;
  done.store(true, std::memory_order_release);
  install();
}

}  // namespace plumbline::shim::adapter
