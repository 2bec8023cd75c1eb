// What the kernel tells of a thread of this process without disturbing it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shim/stacks/registers.hpp"

namespace plumbline::shim::stacks {

struct ThreadSight {
  std::uint32_t tid = 0;
  std::string name;
  bool in_system_call = false;
  int system_call = -1;
  std::array<std::uint64_t, 6> arguments{};
  Registers registers;                // in a system call: program counter and stack pointer, else none
  std::uint64_t blocked_signals = 0;  // bit n-1: signal n
};

std::vector<std::uint32_t> thread_ids() noexcept;
std::optional<ThreadSight> look_at(std::uint32_t tid) noexcept;

// From the text of /proc/<pid>/task/<tid>/syscall.
void parse_system_call(std::string_view text, ThreadSight& sight) noexcept;

// Whether a signal handler may run in the thread without the job noticing. A system call that the handler interrupts is
// started again (SA_RESTART), but not each one is: those that wait with a time limit, for several descriptors or for
// signals give EINTR to their caller all the same. A thread in one of those, or in one that is not known to be
// restarted, is left alone. A thread that runs, or is in none, may be interrupted anywhere, once runs_by_itself() says
// so.
bool may_interrupt(const ThreadSight& sight, int signal) noexcept;

// Watches a thread that is in no system call until it has run for a moment without waiting for anything. One that has
// just been woken looks as if it ran, though it has yet to leave the call that it waited in, and would give EINTR
// there. Takes milliseconds off `patience`, and gives up when that is used up.
bool runs_by_itself(std::uint32_t tid, int& patience) noexcept;

}  // namespace plumbline::shim::stacks
