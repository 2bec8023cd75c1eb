// From one frame to its caller, by the rules of a FrameEntry.
#pragma once

#include <cstdint>

#include "shim/stacks/frame_table.hpp"
#include "shim/stacks/registers.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

// How the walk ends.
enum class Step : std::uint8_t {
  kCaller,     // there is a caller
  kOutermost,  // the rules say that there is none
  kLost,       // a register that the rules need is not known, or memory is not there
};

// Makes `registers` those of the caller. `pc`: the program counter to look the rules up by.
Step to_caller(const FrameEntry& entry, Address pc, Registers& registers, const StackMemory& memory) noexcept;

}  // namespace plumbline::shim::stacks
