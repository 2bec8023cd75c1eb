// The writer thread's part in the taking of stacks, as the recorder's StackSource.
#pragma once

#include "recorder/stack_source.hpp"

namespace plumbline::shim::stacks {

const recorder::StackSource& stack_source() noexcept;

// In the child of a fork: what the parent's threads have left is not this process's.
void forget_left_stacks() noexcept;

}  // namespace plumbline::shim::stacks
