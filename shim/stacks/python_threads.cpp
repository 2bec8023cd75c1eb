#include "shim/stacks/python_threads.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plumbline::shim::stacks {
namespace {

// Up to 3.10 a thread state knows its pthread_t alone. Where glibc keeps the thread's id in that is found by looking
// for our own.
std::size_t find_tid_offset() noexcept {
  constexpr std::size_t kFirst = 0x200, kLast = 0x400;
  const auto own = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const auto self = static_cast<Address>(pthread_self());
  for (std::size_t offset = kFirst; offset < kLast; offset += sizeof own)
    if (load<std::uint32_t, GuardedMemory>(self + offset) == own) return offset;
  return 0;
}

std::uint32_t tid_of(const python::Layout& layout, Address state) noexcept {
  if (layout.thread_native_id != 0)
    return static_cast<std::uint32_t>(load<std::uint64_t, GuardedMemory>(state + layout.thread_native_id));
  static const std::size_t offset = find_tid_offset();
  const auto thread = load<Address, GuardedMemory>(state + layout.thread_id);
  return offset != 0 && thread != 0 ? load<std::uint32_t, GuardedMemory>(thread + offset) : 0;
}

}  // namespace

void PythonThreads::refresh(const python::Interpreter& interpreter) noexcept {
  constexpr int kMostThreads = 10'000;
  states_.clear();
  holder_ = python::lock_holder(interpreter);
  auto state = load<Address, GuardedMemory>(interpreter.state + interpreter.layout.interpreter_threads);
  for (int i = 0; state != 0 && i < kMostThreads; ++i) {
    states_.emplace(tid_of(interpreter.layout, state), state);
    state = load<Address, GuardedMemory>(state + interpreter.layout.thread_next);
  }
}

Address PythonThreads::state_of(std::uint32_t tid) const noexcept {
  const auto it = states_.find(tid);
  return it == states_.end() ? 0 : it->second;
}

}  // namespace plumbline::shim::stacks
