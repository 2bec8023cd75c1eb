#include "shim/core/hook_report.hpp"

#include <atomic>

#include "recorder/recorder.hpp"

namespace plumbline::shim {
namespace {

constexpr const char* kNames[] = {
#define PLUMBLINE_HOOK_NAME(name, text) text,
    PLUMBLINE_HOOKS(PLUMBLINE_HOOK_NAME)
#undef PLUMBLINE_HOOK_NAME
};

constinit std::atomic<const char*> off_reasons[kHookCount]{};

// The hooks of this object wait in place for their callers; those of an adapter or of a library that is not loaded are
// reported by whoever loads it.
constexpr Hook kInterposed[] = {kHookAllocCpu, kHookFreeCpu, kHookC10d, kHookGlooWork,
                                kHookWorkWait, kHookFork,    kHookExit};

}  // namespace

const char* hook_name(Hook hook) noexcept { return kNames[hook]; }

void report_hook_off(Hook hook, const char* reason) noexcept {
  off_reasons[hook].store(reason, std::memory_order_relaxed);
  if (recorder::active()) recorder::hook_state(hook, hook_name(hook), false, reason);
}

void report_hook_on(Hook hook, std::string_view detail) noexcept {
  if (recorder::active()) recorder::hook_state(hook, hook_name(hook), true, detail);
}

void report_all_hooks() noexcept {
  for (const Hook hook : kInterposed) {
    const char* reason = off_reasons[hook].load(std::memory_order_relaxed);
    recorder::hook_state(hook, hook_name(hook), reason == nullptr, reason != nullptr ? reason : "");
  }
}

}  // namespace plumbline::shim
