// Stacks that a thread takes of itself and leaves for the writer thread: of a large or failed allocation, after which
// it runs on, and of a fatal signal, in which it waits. A few places that never move; when all are taken, a stack is
// lost.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/stacks.hpp"
#include "shim/stacks/registers.hpp"

namespace plumbline::shim::stacks {

struct LeftStack {
  enum class State : int { kFree, kFilling, kReady };
  static constexpr std::size_t kCopyBytes = 128 << 10;
  static constexpr std::size_t kMostFrames = 100;

  std::atomic<State> state{State::kFree};
  std::uint64_t time_ns = 0;
  std::uint32_t tid = 0;
  recorder::StackReason reason = recorder::StackReason::kStall;
  std::uint64_t detail = 0;
  Registers registers;
  std::size_t bytes = 0;  // of the copy
  // Of a thread that waits: its Python frames are read by the writer. Of one that runs on: its frames, described.
  void* python_thread = nullptr;
  std::size_t frames = 0;
  std::array<recorder::StackFrameDetails, kMostFrames> python{};
  std::array<std::byte, kCopyBytes> copy{};

  // The parts that are the same for both; safe in a signal handler.
  void fill(recorder::StackReason why, std::uint64_t what, const Registers& from) noexcept;
};

// Null: all are taken. Safe in a signal handler.
LeftStack* claim_left_stack() noexcept;

extern constinit std::array<LeftStack, 4> left_stacks;

}  // namespace plumbline::shim::stacks
