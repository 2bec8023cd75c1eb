#include "shim/core/adapter_loader.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "recorder/recorder.hpp"
#include "shim/adapter_path.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/facts.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/core/host_table.hpp"
#include "shim/core/library_symbol.hpp"
#include "shim/core/log.hpp"

namespace plumbline::shim {
namespace {

enum class State : int { kUntried, kLoading, kTried };

constinit std::atomic<State> state{State::kUntried};
constinit std::atomic<const PlumblineAdapter*> loaded{nullptr};

constexpr const char* kInitFunction = "plumbline_adapter_init";

std::string path_of_library_with(const void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : std::string{};
}

// Where the job's libtorch_cpu.so was loaded from; empty when it is not in the process.
std::string libtorch_path() noexcept {
  return path_of_library_with(symbol_in_library("libtorch_cpu.so", "_ZTVN4c10d4WorkE"));
}

std::string beside_ourselves() noexcept {
  const std::string self = path_of_library_with(reinterpret_cast<const void*>(&beside_ourselves));
  return self.substr(0, self.rfind('/') + 1) + kAdapterFile;
}

// What came of loading it, kept for the traces of forked children.
struct Attempt {
  std::string libtorch;
  TorchBuild torch;
  std::string path;    // of the adapter; empty: none could be loaded
  std::string reason;  // why not
};
Attempt* attempt = nullptr;  // never freed

void report_attempt() noexcept {
  report_torch(attempt->libtorch, attempt->torch);
  if (!attempt->path.empty()) {
    recorder::fact("adapter.state", "loaded");
    recorder::fact("adapter.path", attempt->path);
    return;
  }
  recorder::fact("adapter.state", "missing");
  recorder::fact("adapter.reason", attempt->reason);
  recorder::fact("adapter.remedy", "plumbline build-adapter");
  for (const Hook hook : {kHookRange, kHookStep, kHookPython, kHookCachingAllocator}) {
    report_hook_off(hook, "needs the torch adapter, which is missing");
  }
  log_line(
      "no torch adapter (%s): optimizer steps, ranges, and the arguments of collectives are not recorded; "
      "`plumbline build-adapter` builds it",
      attempt->reason.c_str());
}

// Null, with the loader's or the adapter's reason in `why`.
const PlumblineAdapter* start_adapter(const std::string& path, std::string* why) noexcept {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    *why = error != nullptr ? error : path + " cannot be loaded";
    return nullptr;
  }
  const auto init = reinterpret_cast<PlumblineAdapterInit>(dlsym(handle, kInitFunction));
  const PlumblineAdapter* adapter = init != nullptr ? init(&host_table(attempt->torch.version.c_str())) : nullptr;
  if (adapter == nullptr) {
    *why = path + " cannot serve this process";
  } else if (adapter->version != kPlumblineAdapterVersion || adapter->size < sizeof(PlumblineAdapter)) {
    *why = path + " was built for another version of plumbline";
    adapter = nullptr;
  }
  return adapter;
}

void load_adapter() noexcept {
  attempt = new Attempt;
  attempt->libtorch = libtorch_path();
  attempt->torch = torch_build_at(attempt->libtorch);
  const recorder::Settings& settings = settings_in_force();

  // Named by the user, else from the cache, else from where the preload object was installed.
  std::string candidates[2];
  int count = 0;
  if (!settings.adapter.empty()) {
    candidates[count++] = settings.adapter;
  } else {
    candidates[count++] = adapter_path(settings.cache, attempt->torch);
    candidates[count++] = beside_ourselves();
  }
  for (int i = 0; i < count && attempt->path.empty(); ++i) {
    std::string why;
    if (const PlumblineAdapter* adapter = start_adapter(candidates[i], &why)) {
      attempt->path = candidates[i];
      loaded.store(adapter, std::memory_order_release);
    } else if (attempt->reason.empty()) {
      attempt->reason = why;
    }
  }
}

// False while another thread is at it: that thread's call is then recorded without the adapter's help.
bool load_once() noexcept {
  State expected = State::kUntried;
  if (!state.compare_exchange_strong(expected, State::kLoading, std::memory_order_acq_rel)) {
    return expected == State::kTried;
  }
  const int saved_errno = errno;
  load_adapter();
  report_attempt();
  report_libraries();
  state.store(State::kTried, std::memory_order_release);
  errno = saved_errno;
  return true;
}

int run_from_python(void* /*argument*/) noexcept {
  if (recorder::active() || gate.load(std::memory_order_relaxed) == Gate::kRefused) load_once();
  return 0;
}

}  // namespace

void schedule_adapter() noexcept {
  // A forked child has its parent's adapter, and a trace of its own.
  if (state.load(std::memory_order_acquire) == State::kTried) {
    report_attempt();
    report_libraries();
    return;
  }
  using AddPendingCall = int (*)(int (*)(void*), void*);
  const auto add_pending_call = reinterpret_cast<AddPendingCall>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
  if (add_pending_call != nullptr) add_pending_call(run_from_python, nullptr);
}

const PlumblineAdapter* adapter_for_call() noexcept {
  if (state.load(std::memory_order_acquire) != State::kTried) [[unlikely]]
    load_once();
  return loaded.load(std::memory_order_relaxed);
}

const PlumblineAdapter* loaded_adapter() noexcept { return loaded.load(std::memory_order_acquire); }

}  // namespace plumbline::shim
