#include "shim/stacks/left_stacks.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/recorder.hpp"
#include "shim/python/memory.hpp"

namespace plumbline::shim::stacks {

// Zero pages until one is used.
constinit std::array<LeftStack, 4> left_stacks{};

LeftStack* claim_left_stack() noexcept {
  for (LeftStack& stack : left_stacks) {
    LeftStack::State free = LeftStack::State::kFree;
    if (stack.state.compare_exchange_strong(free, LeftStack::State::kFilling, std::memory_order_acq_rel)) return &stack;
  }
  return nullptr;
}

void LeftStack::fill(recorder::StackReason why, std::uint64_t what, const Registers& from) noexcept {
  time_ns = recorder::now_ns();
  tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  reason = why;
  detail = what;
  registers = from;
  bytes = read_guarded(from.sp(), copy.data(), copy.size());
  python_thread = nullptr;
  frames = 0;
}

}  // namespace plumbline::shim::stacks
