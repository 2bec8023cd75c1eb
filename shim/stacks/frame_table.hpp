// Finds what a module's .eh_frame says of a program counter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

// The call frame information of one function, its programs copied.
struct FrameEntry {
  Address begin = 0;  // of the function
  Address end = 0;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint64_t return_register = 0;
  bool signal_frame = false;
  std::vector<std::uint8_t> common_program;
  std::vector<std::uint8_t> program;
};

// `header`: address of the module's .eh_frame_hdr.
std::optional<FrameEntry> find_frame_entry(Address header, Address pc, const StackMemory& memory) noexcept;

}  // namespace plumbline::shim::stacks
