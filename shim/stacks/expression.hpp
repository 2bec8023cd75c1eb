// The expressions of DWARF that occur in call frame information: of the procedure linkage table, of signal frames.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "shim/stacks/registers.hpp"
#include "shim/stacks/stack_memory.hpp"

namespace plumbline::shim::stacks {

// `initial`: the value that lies on the expression's stack at its start, if any. Nothing for an operation that is not
// among those.
std::optional<std::uint64_t> evaluate(std::span<const std::uint8_t> expression, const Registers& registers,
                                      const StackMemory& memory, std::optional<std::uint64_t> initial) noexcept;

}  // namespace plumbline::shim::stacks
