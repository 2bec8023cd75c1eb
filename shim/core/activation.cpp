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

Gate start_recording() noexcept {
  auto* settings = new (settings_storage) recorder::Settings(recorder::load_settings());
  if (settings->disabled || settings->level == recorder::Level::kOff ||
      excluded_by(settings->exclude.c_str(), program_invocation_short_name)) {
    return Gate::kClosed;
  }
  recorder::set_stack_source(stacks::stack_source());
  if (!recorder::start(*settings)) return Gate::kRefused;
  watch_lifecycle();
  report_all_hooks();
  report_identity();
  return Gate::kOpen;
}

// The recorder has a line on why it records nothing. Launchers and workers, which meet the same trouble, are spared it.
void tell_refusal(const char* why) noexcept {
  Gate refused = Gate::kRefused;
  if (!gate.compare_exchange_strong(refused, Gate::kClosed, std::memory_order_acq_rel)) return;
  const int saved_errno = errno;
  recorder::promote(why);
  errno = saved_errno;
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
  const Gate outcome = start_recording();
  gate.store(outcome, std::memory_order_release);
  // Also where nothing can be recorded: the adapter sees whether the process trains, and should be told.
  if (outcome != Gate::kClosed) schedule_adapter();
  if (outcome == Gate::kOpen) python::schedule_verification();
  errno = saved_errno;
  return outcome == Gate::kOpen;
}

bool open_for_training(const char* why) noexcept {
  if (!is_open() && !open_for(Evidence::kTraining)) {
    tell_refusal(why);
    return false;
  }
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
