// Optimizer steps that are open, by thread: what the range opens, the Python hooks fill in and the range's end writes.
//
// A step is opened and filled on one thread. Its range may in principle be closed by another one, so a thread's stack
// holds shared pointers, and a closed step that still lies on it is dropped at the next look.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace plumbline::shim::adapter {

struct OpenStep {
  std::uint64_t handle = 0;
  std::uint64_t name = 0;       // text id of the optimizer's class
  std::uint64_t optimizer = 0;  // identity of the Python object, once the pre-hook has run
  std::uint64_t key = 0;
  std::uint8_t depth = 0;
  bool entered = false;       // the pre-hook has run
  bool returned = false;      // the post-hook has run
  bool captured = false;      // the glue awaits its end
  std::int64_t ordinal = -1;  // of the optimizer, where its step was counted
  std::atomic<bool> closed{false};
};

// Puts a new step on the calling thread's stack, with its depth filled in.
std::shared_ptr<OpenStep> open_step();

// The innermost open step of the calling thread, null if there is none.
OpenStep* innermost_step() noexcept;

// Closes a step, from any thread.
void close_step(OpenStep& step) noexcept;

}  // namespace plumbline::shim::adapter
