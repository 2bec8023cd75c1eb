// How long Python's garbage collector holds the job up.
#pragma once

namespace plumbline::shim::adapter {

// Adds a callback to gc.callbacks. False when there is no such list. Needs the interpreter lock.
bool follow_garbage_collection() noexcept;

}  // namespace plumbline::shim::adapter
