// Takes the stack of a thread that meets a fatal signal, before the process dies of it.
//
// A handler is installed only where nobody else's would be moved out of the way: where the signal has its default
// action, or where Python's faulthandler has it. It copies registers and stack, waits a moment for the writer thread to
// put them on disk, and then does what would have happened without it, to the same exit status.
#pragma once

namespace plumbline::shim::stacks {

// Once, when the process is found to train.
void watch_fatal_signals() noexcept;

}  // namespace plumbline::shim::stacks
