// How a recording process ends and multiplies: its exit status, and what becomes of the recorder in a forked child.
#pragma once

namespace plumbline::shim {

// Registers the exit and fork handlers, once a process. vfork, posix_spawn and exec need none: a child that shares our
// memory runs no code of ours, and a new program starts anew. A fatal signal needs none either: what was recorded is in
// a shared file.
void watch_lifecycle() noexcept;

}  // namespace plumbline::shim
