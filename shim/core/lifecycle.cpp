#include "shim/core/lifecycle.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/facts.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/core/immediate_exit.hpp"
#include "shim/cupti/device_recording.hpp"
#include "shim/python/call_site.hpp"
#include "shim/stacks/take_stacks.hpp"

namespace plumbline::shim {
namespace {

constinit std::atomic<bool> watching{false};
constinit std::atomic<pid_t> recording_pid{0};

void on_process_exit(int status, void* /*argument*/) noexcept { end_recording(status); }

void before_fork() noexcept { recorder::fork_prepare(); }

void after_fork_in_parent() noexcept {
  recorder::fork_parent();
  recorder::hook_fired(kHookFork);
}

void after_fork_in_child() noexcept {
  recorder::fork_child();
  forget_reported_libraries();
  python::forget_call_sites();
  stacks::forget_left_stacks();
  cupti::forget_devices();
  if (is_open()) gate.store(Gate::kForked, std::memory_order_relaxed);
}

}  // namespace

void end_recording(int status) noexcept {
  if (recording_pid.load(std::memory_order_relaxed) != getpid() || !is_open()) return;
  recorder::hook_fired(kHookExit);
  if (recorder::promoted()) report_libraries();
  recorder::stop(status, 0);
}

void watch_lifecycle() noexcept {
  recording_pid.store(getpid(), std::memory_order_relaxed);
  watch_immediate_exit();
  // A forked child that records inherits the handlers that its parent registered.
  if (watching.exchange(true)) return;
  // on_exit, unlike atexit, tells the status.
  if (on_exit(on_process_exit, nullptr) != 0) report_hook_off(kHookExit, "on_exit() refused the handler");
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
    report_hook_off(kHookFork, "pthread_atfork() refused the handlers");
  }
}

}  // namespace plumbline::shim
