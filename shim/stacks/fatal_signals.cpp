#include "shim/stacks/fatal_signals.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "recorder/recorder.hpp"
#include "shim/core/immediate_exit.hpp"
#include "shim/python/interpreter.hpp"
#include "shim/stacks/left_stacks.hpp"

namespace plumbline::shim::stacks {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

constinit std::array<struct sigaction, kSignals.size()> earlier{};
constinit std::atomic<pid_t> watched_process{0};
constinit std::atomic<bool> met{false};

// The writer thread looks every tenth of a second, later on a starved machine. Its own crash, or one that holds a lock
// which it needs, must not keep the process alive for long.
void wait_for_writer(const LeftStack& stack) noexcept {
  constexpr int kMostPauses = 500;
  for (int i = 0; i < kMostPauses; ++i) {
    if (stack.state.load(std::memory_order_acquire) == LeftStack::State::kFree) return;
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

void leave_own_stack(int signal, const ucontext_t& context) noexcept {
  LeftStack* const stack = claim_left_stack();
  if (stack == nullptr) return;
  stack->fill(recorder::StackReason::kFatalSignal, static_cast<std::uint64_t>(signal), from_context(context));
  if (const python::Interpreter* const python = python::interpreter()) stack->python_thread = python->this_thread();
  stack->state.store(LeftStack::State::kReady, std::memory_order_release);
  wait_for_writer(*stack);
}

// What would have happened without us. A fault happens again when the handler returns; a signal that was sent does not.
void hand_on(int signal, siginfo_t* info, void* context, const struct sigaction& before) noexcept {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

void on_fatal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (watched_process.load(std::memory_order_relaxed) == getpid() && recorder::active() && !met.exchange(true))
    leave_own_stack(signal, *static_cast<const ucontext_t*>(context));
  errno = saved_errno;
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (kSignals[i] == signal) hand_on(signal, info, context, earlier[i]);
}

bool may_be_taken(const struct sigaction& action) noexcept {
  if ((action.sa_flags & SA_SIGINFO) != 0) return false;
  return action.sa_handler == SIG_DFL || is_in_python(reinterpret_cast<const void*>(action.sa_handler));
}

}  // namespace

void watch_fatal_signals() noexcept {
  // A forked child has its parent's handlers.
  if (watched_process.exchange(getpid()) != 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (sigaction(kSignals[i], nullptr, &earlier[i]) != 0 || !may_be_taken(earlier[i])) continue;
    struct sigaction action {};
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace plumbline::shim::stacks
