#include "shim/core/activation.hpp"

#include <errno.h>
#include <fnmatch.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "recorder/recorder.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/facts.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/core/lifecycle.hpp"
#include "shim/core/log.hpp"
#include "shim/cuda/hook_report.hpp"
#include "shim/nccl/nccl_functions.hpp"
#include "shim/python/interpreter.hpp"
#include "shim/stacks/fatal_signals.hpp"
#include "shim/stacks/take_stacks.hpp"

namespace plumbline::shim {
namespace {

// Never destroyed: hooks fire until the very end of a process.
alignas(recorder::Settings) constinit unsigned char settings_storage[sizeof(recorder::Settings)]{};

bool is_set(const char* value) noexcept { return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0; }

// All that loading does. The process may be a shell, a compiler, anything.
[[gnu::constructor]] void read_switches() noexcept {
  if (is_set(std::getenv("PLUMBLINE_DISABLE")) ||
      excluded_by(std::getenv("PLUMBLINE_EXCLUDE"), program_invocation_short_name)) {
    gate.store(Gate::kClosed, std::memory_order_relaxed);
  }
}

bool start_recording() noexcept {
  auto* settings = new (settings_storage) recorder::Settings(recorder::load_settings());
  for (const std::string& complaint : settings->complaints) log_line("%s", complaint.c_str());
  if (settings->disabled || settings->level == recorder::Level::kOff ||
      excluded_by(settings->exclude.c_str(), program_invocation_short_name)) {
    return false;
  }
  recorder::set_stack_source(stacks::stack_source());
  if (!recorder::start(*settings)) return false;
  watch_lifecycle();
  report_all_hooks();
  report_identity();
  return true;
}

}  // namespace

const recorder::Settings& settings_in_force() noexcept {
  return *std::launder(reinterpret_cast<const recorder::Settings*>(settings_storage));
}

bool excluded_by(const char* patterns, const char* program) noexcept {
  if (patterns == nullptr) return false;
  while (*patterns != '\0') {
    const std::size_t length = std::strcspn(patterns, ",");
    char pattern[256];
    if (length > 0 && length < sizeof pattern) {
      std::memcpy(pattern, patterns, length);
      pattern[length] = '\0';
      if (fnmatch(pattern, program, 0) == 0) return true;
    }
    patterns += length + (patterns[length] == ',' ? 1 : 0);
  }
  return false;
}

bool open_for(Evidence evidence) noexcept {
  Gate seen = gate.load(std::memory_order_acquire);
  const bool may_open = seen == Gate::kUntried || (seen == Gate::kForked && evidence == Evidence::kTraining);
  if (!may_open) return seen == Gate::kOpen;
  if (!gate.compare_exchange_strong(seen, Gate::kOpening, std::memory_order_acq_rel)) return seen == Gate::kOpen;
  const int saved_errno = errno;
  const bool started = start_recording();
  gate.store(started ? Gate::kOpen : Gate::kClosed, std::memory_order_release);
  if (started) schedule_adapter();
  if (started) python::schedule_verification();
  errno = saved_errno;
  return started;
}

bool open_for_training(const char* why) noexcept {
  if (!is_open() && !open_for(Evidence::kTraining)) return false;
  if (!recorder::promoted()) {
    const int saved_errno = errno;
    recorder::promote(why);
    stacks::watch_fatal_signals();
    // What trains on a GPU has loaded its libraries by now.
    cuda::report_hooks();
    nccl::report_hooks(nullptr);
    errno = saved_errno;
  }
  return true;
}

}  // namespace plumbline::shim
