// The Python frames of another thread, innermost first, as addresses; their texts are looked up afterwards.
#pragma once

#include <array>
#include <cstddef>

#include "shim/python/frames.hpp"
#include "shim/python/interpreter.hpp"

namespace plumbline::shim::python {

struct FrameList {
  static constexpr std::size_t kMost = 200;  // deeper stacks lose their outermost frames
  std::size_t count = 0;
  std::array<Frame, kMost> frames;
};

// What the memory of a thread state says now; nothing for 0. Guarded, and safe in a signal handler.
void list_frames(const Interpreter& python, Address thread, FrameList& out) noexcept;

// The frames of a thread that may run meanwhile. A list that is read while it changes can end too early: a generator
// that has just yielded has no caller. The outermost frame of a thread is no generator's and stays the same, so what
// ends elsewhere than the longest of several lists is not whole. `interrupted`, unless empty, was listed while the
// thread stood still, at the moment of its native stack, and is preferred when it is whole.
FrameList whole_frames(const Interpreter& python, Address thread, const FrameList& interrupted) noexcept;

}  // namespace plumbline::shim::python
