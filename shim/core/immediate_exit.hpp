// os._exit: a process that leaves without running its exit handlers, as worker processes and some launchers do.
//
// Everything recorded survives that anyway, in the ring. The status is worth having, though, and a process that did not
// train should take its pending files with it; so _exit is interposed. Only the interpreter's own call counts: a signal
// handler may call _exit too, where nothing that takes a lock is allowed.
#pragma once

namespace plumbline::shim {

// At the start of recording: finds the interpreter, if the process has one.
void watch_immediate_exit() noexcept;

// Whether an address lies in the interpreter's library, or in the executable that is the interpreter.
bool is_in_python(const void* address) noexcept;

}  // namespace plumbline::shim
