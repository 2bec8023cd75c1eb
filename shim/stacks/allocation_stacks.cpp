#include "shim/stacks/allocation_stacks.hpp"

#include <ucontext.h>

#include <cerrno>

#include "recorder/recorder.hpp"
#include "recorder/seen_set.hpp"
#include "shim/core/activation.hpp"
#include "shim/python/call_site.hpp"
#include "shim/python/frames.hpp"
#include "shim/python/interpreter.hpp"
#include "shim/stacks/left_stacks.hpp"

namespace plumbline::shim::stacks {
namespace {

constinit recorder::SeenSet<1 << 10> seen;

// Described here and now: once the thread runs on, its code objects may go.
void describe_frames(LeftStack& stack) noexcept {
  const python::Interpreter* const python = python::interpreter();
  void* const thread = python != nullptr ? python->this_thread() : nullptr;
  if (thread == nullptr) return;
  python::FrameWalk<DirectMemory> walk(python->layout, thread);
  while (stack.frames < LeftStack::kMostFrames && walk.next()) {
    const auto text = python::describe(python->layout, walk.frame());
    if (!text) return;
    stack.python[stack.frames++] = {0, recorder::text_id(text->function), recorder::text_id(text->file), text->line};
  }
}

[[gnu::noinline]] void leave_stack(recorder::StackReason reason, std::uint64_t bytes) noexcept {
  const int saved_errno = errno;
  LeftStack* const stack = claim_left_stack();
  if (stack != nullptr) {
    ucontext_t context;
    getcontext(&context);
    stack->fill(reason, bytes, from_context(context));
    describe_frames(*stack);
    stack->state.store(LeftStack::State::kReady, std::memory_order_release);
  }
  errno = saved_errno;
}

}  // namespace

void note_request(std::uint64_t bytes) noexcept {
  const std::uint64_t large = settings_in_force().large_allocation_bytes;
  if (bytes < large || large == 0) [[likely]]
    return;
  const std::uint64_t key = (python::call_site() ^ bytes * 0x9e3779b97f4a7c15u) | 1;
  if (seen.contains(key)) return;
  seen.insert(key);
  leave_stack(recorder::StackReason::kLargeAllocation, bytes);
}

void note_failure(std::uint64_t bytes) noexcept { leave_stack(recorder::StackReason::kFailedAllocation, bytes); }

}  // namespace plumbline::shim::stacks
