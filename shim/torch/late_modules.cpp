#include "shim/torch/late_modules.hpp"

#include <iterator>

#include "shim/torch/glue.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {
namespace {

constexpr const char* kLate[] = {"safetensors.torch", "torch.distributed.checkpoint.state_dict_saver",
                                 "torch.distributed.checkpoint.state_dict_loader"};

bool seen[std::size(kLate)];

// In the main thread, between two bytecodes.
int watch(void* /*argument*/) noexcept {
  if (!host().active()) return 0;
  ErrorGuard guard;
  install_watches();
  return 0;
}

}  // namespace

void notice_late_modules() noexcept {
  bool come = false;
  for (std::size_t i = 0; i < std::size(kLate); ++i) {
    if (seen[i] || !is_imported(kLate[i])) continue;
    seen[i] = true;
    come = true;
  }
  if (come) python()->Py_AddPendingCall(watch, nullptr);
}

}  // namespace plumbline::shim::adapter
