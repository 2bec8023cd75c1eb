#include "shim/nccl/nccl_functions.hpp"

#include <atomic>
#include <cstdio>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/core/library_symbol.hpp"
#include "shim/core/log.hpp"

namespace plumbline::shim::nccl {
namespace {

constexpr const char* kTwins[] = {
#define PLUMBLINE_NCCL_TWIN(name) "pnccl" #name,
    PLUMBLINE_NCCL_FUNCTIONS(PLUMBLINE_NCCL_TWIN)
#undef PLUMBLINE_NCCL_TWIN
};

constinit std::atomic<void*> real_functions[kFunctionCount]{};
constinit std::atomic<bool> complained{false};

// Where NCCL is part of libtorch_cuda.so, that may export it.
constexpr const char* kLibraries[] = {"libnccl.so.2", "libtorch_cuda.so"};

// The twin, or the plain name where a library has no twins; before them, another interposer.
void* look_up(Function function, const void* site) noexcept {
  if (void* found = symbol_in_later_preload(name_of(function))) return found;
  for (const char* symbol : {kTwins[function], name_of(function)}) {
    for (const char* library : kLibraries) {
      if (void* found = symbol_in_library(library, symbol)) return found;
    }
    if (site == nullptr) continue;
    if (void* found = symbol_in_library_of(site, symbol)) return found;
  }
  return nullptr;
}

void report_absence() noexcept {
  const bool torch = is_loaded("libtorch_cuda.so");
  recorder::hook_state(kHookNccl, hook_name(kHookNccl), false,
                       torch ? "libtorch_cuda.so is loaded and shows no NCCL: it is linked statically, and its calls "
                               "cannot be seen"
                             : "libnccl.so.2 is not loaded");
}

}  // namespace

const char* name_of(Function function) noexcept { return kTwins[function] + 1; }

void* real_function(Function function, const void* site) noexcept {
  void* found = real_functions[function].load(std::memory_order_relaxed);
  if (found != nullptr) [[likely]]
    return found;
  found = look_up(function, site);
  if (found != nullptr) {
    real_functions[function].store(found, std::memory_order_relaxed);
  } else if (site != nullptr && !complained.exchange(true)) {
    // A process that calls NCCL means to train: the line is to be seen.
    open_for_training("a call of NCCL");
    recorder::hook_state(kHookNccl, hook_name(kHookNccl), false, "NCCL was called, and no loaded library has it");
    log_line("%s was called, and no loaded library has it", name_of(function));
  }
  return found;
}

void report_hooks(const void* site) noexcept {
  const auto get_version = reinterpret_cast<int (*)(int*)>(look_up(kGetVersion, site));
  if (get_version == nullptr) return report_absence();
  int version = 0;
  get_version(&version);
  char detail[96];
  std::snprintf(detail, sizeof detail, "NCCL %d.%d.%d; hooks made from the header of %d.%d.%d", version / 10000,
                version / 100 % 100, version % 100, PLUMBLINE_NCCL_HEADER_VERSION / 10000,
                PLUMBLINE_NCCL_HEADER_VERSION / 100 % 100, PLUMBLINE_NCCL_HEADER_VERSION % 100);
  recorder::hook_state(kHookNccl, hook_name(kHookNccl), true, detail);
  for (unsigned number = 0; number < kFunctionCount; ++number) {
    const auto function = static_cast<Function>(number);
    if (hook_of(function) == kHookNccl) continue;
    const bool active = look_up(function, site) != nullptr;
    recorder::hook_state(hook_of(function), name_of(function), active, active ? "" : "this NCCL has no such function");
  }
}

}  // namespace plumbline::shim::nccl
