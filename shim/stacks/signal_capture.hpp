// Copies the registers, the upper part of the stack and the list of Python frames of a running thread, by a real-time
// signal to it: nothing else can, short of ptrace, which containers forbid. The handler copies and returns; all other
// work is done elsewhere.
#pragma once

#include <cstdint>

#include "shim/python/frame_list.hpp"
#include "shim/stacks/registers.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

inline constexpr std::size_t kStackCopyBytes = 512 << 10;

struct CapturedThread {
  Registers registers;
  StackMemory memory;  // valid until the next capture
  python::FrameList python;
};

// Used by one thread at a time. Once used, the handler stays for good: a signal that was sent to a thread in an
// uninterruptible wait arrives when that ends, maybe much later, and must not meet the default action.
class SignalCapture {
 public:
  // Makes the handler ready: a signal that nobody handles. 0 when there is none.
  int prepare() noexcept;

  // False when the thread did not answer in time. `python_thread`: its thread state, or 0.
  bool capture(std::uint32_t tid, Address python_thread, CapturedThread& out) noexcept;

 private:
  int signal_ = 0;
};

}  // namespace plumbline::shim::stacks
