#include "shim/stacks/take_stacks.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "recorder/recorder.hpp"
#include "shim/python/frame_list.hpp"
#include "shim/python/interpreter.hpp"
#include "shim/stacks/left_stacks.hpp"
#include "shim/stacks/python_threads.hpp"
#include "shim/stacks/signal_capture.hpp"
#include "shim/stacks/stack_writer.hpp"
#include "shim/stacks/thread_sight.hpp"
#include "shim/stacks/unwind.hpp"

namespace plumbline::shim::stacks {
namespace {

using recorder::Definitions;
using recorder::StackDetails;

// The writer thread's own, made at the first stack of a trace and never destroyed.
StackWriter* stack_writer = nullptr;

StackWriter& writer() noexcept {
  if (stack_writer == nullptr) stack_writer = new StackWriter;
  return *stack_writer;
}

// Stacks of one moment.
class Taking {
 public:
  explicit Taking(Definitions& to) noexcept : to_(to) {
    modules_.refresh();
    if (const python::Interpreter* const interpreter = python::interpreter()) threads_.refresh(*interpreter);
  }

  // A thread in a system call is looked at from outside first: its stack stands still, and what is known of its
  // registers is often enough. Only when it is not, or when the thread runs, is it interrupted.
  void take(const ThreadSight& sight, std::uint64_t stalled_ns, bool trains) noexcept {
    StackDetails stack;
    stack.time_ns = recorder::now_ns();
    stack.tid = sight.tid;
    stack.thread_name = sight.name;
    stack.detail = stalled_ns;
    const Address state = threads_.state_of(sight.tid);
    if (threads_.holds_lock(state)) stack.flags |= recorder::kHoldsInterpreterLock;
    if (trains) stack.flags |= recorder::kTrainingThread;
    if (sight.in_system_call) stack.flags |= recorder::kIdle;
    python::FrameList interrupted;
    stack.native = StackWriter::native_frames(native(sight, state, interrupted));
    if (const python::Interpreter* const python = python::interpreter())
      stack.python = StackWriter::python_frames(python::whole_frames(*python, state, interrupted), to_);
    writer().add(std::move(stack), modules_, to_);
  }

  void take_left(const LeftStack& left) noexcept {
    const auto sight = look_at(left.tid);
    const StackMemory memory(left.registers.sp(), left.copy.data(), left.bytes);
    StackDetails stack;
    stack.time_ns = left.time_ns;
    stack.tid = left.tid;
    stack.thread_name = sight ? sight->name : "";
    stack.reason = left.reason;
    stack.detail = left.detail;
    const Address state = threads_.state_of(left.tid);
    if (const python::Interpreter* const python = python::interpreter(); python && left.python_thread != nullptr) {
      if (threads_.holds_lock(state)) stack.flags |= recorder::kHoldsInterpreterLock;
      python::FrameList list;
      python::list_frames(*python, reinterpret_cast<Address>(left.python_thread), list);
      stack.python = StackWriter::python_frames(list, to_);
    } else {
      stack.python.assign(left.python.begin(), left.python.begin() + static_cast<std::ptrdiff_t>(left.frames));
    }
    stack.native = StackWriter::native_frames(Unwinder(modules_).unwind(left.registers, memory).pcs);
    writer().add(std::move(stack), modules_, to_);
  }

 private:
  std::vector<std::uint64_t> native(const ThreadSight& sight, Address state, python::FrameList& interrupted) noexcept {
    static SignalCapture signals;
    NativeStack stack;
    if (sight.in_system_call) {
      copy_.resize(kStackCopyBytes);
      copy_.resize(read_guarded(sight.registers.sp(), copy_.data(), copy_.size()));
      const StackMemory memory(sight.registers.sp(), copy_.data(), copy_.size());
      stack = unwinder_.unwind(sight.registers, memory);
      if (stack.complete) return stack.pcs;
    }
    const int signal = signals.prepare();
    if (signal == 0 || !may_interrupt(sight, signal)) return stack.pcs;
    if (!sight.in_system_call && !runs_by_itself(sight.tid, patience_)) return stack.pcs;
    CapturedThread captured;
    if (!signals.capture(sight.tid, state, captured)) return stack.pcs;
    interrupted = captured.python;
    const NativeStack unwound = unwinder_.unwind(captured.registers, captured.memory);
    return unwound.pcs.size() >= stack.pcs.size() ? unwound.pcs : stack.pcs;
  }

  Definitions& to_;
  ModuleMap modules_;
  PythonThreads threads_;
  Unwinder unwinder_{modules_};
  std::vector<std::byte> copy_;
  int patience_ = 2000;  // milliseconds to wait for threads in all
};

void take_all(std::uint64_t stalled_ns, std::uint32_t training_thread, Definitions& to) {
  constexpr std::size_t kMostThreads = 256;
  std::vector<std::uint32_t> ids = thread_ids();
  std::erase(ids, static_cast<std::uint32_t>(syscall(SYS_gettid)));
  const auto trains = [&](std::uint32_t tid) { return tid == training_thread; };
  std::stable_partition(ids.begin(), ids.end(), trains);
  if (ids.size() > kMostThreads) ids.resize(kMostThreads);
  Taking taking(to);
  for (const std::uint32_t tid : ids)
    if (const auto sight = look_at(tid)) taking.take(*sight, stalled_ns, trains(tid));
}

bool is_ready(const LeftStack& stack) noexcept {
  return stack.state.load(std::memory_order_acquire) == LeftStack::State::kReady;
}

// Left stacks whose writing is under way; they are given back once they are on disk.
constinit std::array<bool, left_stacks.size()> taken{};

bool take_left(Definitions& to) {
  if (std::none_of(left_stacks.begin(), left_stacks.end(), is_ready)) return false;
  Taking taking(to);
  for (std::size_t i = 0; i < left_stacks.size(); ++i) {
    if (!is_ready(left_stacks[i])) continue;
    taking.take_left(left_stacks[i]);
    taken[i] = true;
  }
  return true;
}

void left_written() {
  for (std::size_t i = 0; i < left_stacks.size(); ++i) {
    if (taken[i]) left_stacks[i].state.store(LeftStack::State::kFree, std::memory_order_release);
    taken[i] = false;
  }
}

constexpr recorder::StackSource kSource = {take_all, take_left, left_written};

}  // namespace

const recorder::StackSource& stack_source() noexcept { return kSource; }

void forget_left_stacks() noexcept {
  for (LeftStack& stack : left_stacks) stack.state.store(LeftStack::State::kFree, std::memory_order_relaxed);
  stack_writer = nullptr;  // its trace has been told of modules that another has not
}

}  // namespace plumbline::shim::stacks
