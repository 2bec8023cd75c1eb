// How a recording process ends and multiplies: its exit status, and what becomes of the recorder in a forked child.
#pragma once

namespace plumbline::shim {

// Registers the exit and fork handlers, once a process. vfork, posix_spawn and exec need none: a child that shares our
// memory runs no code of ours, and a new program starts anew. A fatal signal needs none either: what was recorded is in
// a shared file.
void watch_lifecycle() noexcept;

// Closes the trace with the status that the process is about to end with. Does nothing in a process that does not
// record itself, such as a child that was forked past our handlers and still has its parent's memory.
void end_recording(int status) noexcept;

}  // namespace plumbline::shim
