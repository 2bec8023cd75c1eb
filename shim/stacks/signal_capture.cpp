#include "shim/stacks/signal_capture.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace plumbline::shim::stacks {
namespace {

enum class State : int { kIdle, kAsked, kCopying, kDone };

// What one thread is asked for. A handler that comes too late finds another state or another thread.
struct Request {
  std::atomic<State> state{State::kIdle};
  std::atomic<std::uint32_t> tid{0};
  Address python_thread = 0;
  Registers registers;
  std::byte* copy = nullptr;
  std::size_t bytes = 0;
  python::FrameList python;
};
constinit Request request;

std::uint32_t own_tid() noexcept { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

void on_signal(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  State asked = State::kAsked;
  if (request.tid.load(std::memory_order_acquire) == own_tid() &&
      request.state.compare_exchange_strong(asked, State::kCopying, std::memory_order_acq_rel)) {
    request.registers = from_context(*static_cast<const ucontext_t*>(context));
    request.bytes = read_guarded(request.registers.sp(), request.copy, kStackCopyBytes);
    request.python.count = 0;
    if (const python::Interpreter* const python = python::interpreter())
      python::list_frames(*python, request.python_thread, request.python);
    request.state.store(State::kDone, std::memory_order_release);
  }
  errno = saved_errno;
}

bool is_ours(int signal) noexcept {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == on_signal;
}

bool take(int signal) noexcept {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL)
    return false;
  action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  return sigaction(signal, &action, nullptr) == 0;
}

bool wait_for(State state, std::uint64_t nanoseconds) noexcept {
  constexpr long kPause = 50'000;
  for (std::uint64_t waited = 0; waited < nanoseconds; waited += kPause) {
    if (request.state.load(std::memory_order_acquire) == state) return true;
    const timespec pause{0, kPause};
    nanosleep(&pause, nullptr);
  }
  return request.state.load(std::memory_order_acquire) == state;
}

}  // namespace

int SignalCapture::prepare() noexcept {
  if (request.copy == nullptr) {
    void* const memory =
        mmap(nullptr, kStackCopyBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 0;
    request.copy = static_cast<std::byte*>(memory);
  }
  if (signal_ != 0 && is_ours(signal_)) return signal_;
  // From the far end: who uses real-time signals begins at the near one.
  for (signal_ = SIGRTMAX - 2; signal_ >= SIGRTMIN; --signal_)
    if (is_ours(signal_) || take(signal_)) return signal_;
  return signal_ = 0;
}

bool SignalCapture::capture(std::uint32_t tid, Address python_thread, CapturedThread& out) noexcept {
  constexpr std::uint64_t kLongestAnswer = 30'000'000;
  if (signal_ == 0) return false;
  request.python_thread = python_thread;
  request.tid.store(tid, std::memory_order_relaxed);
  request.state.store(State::kAsked, std::memory_order_release);
  if (syscall(SYS_tgkill, getpid(), tid, signal_) != 0 || !wait_for(State::kDone, kLongestAnswer)) {
    State asked = State::kAsked;
    if (request.state.compare_exchange_strong(asked, State::kIdle, std::memory_order_acq_rel)) return false;
    // It has begun just now.
    if (!wait_for(State::kDone, kLongestAnswer)) return false;
  }
  out = {request.registers, StackMemory(request.registers.sp(), request.copy, request.bytes), request.python};
  request.state.store(State::kIdle, std::memory_order_release);
  return true;
}

}  // namespace plumbline::shim::stacks
