// When the writer thread finds no memory: it must not take the job down with it.
//
// The recorder is built without exceptions, so a failing operator new would end the process. A new-handler lets the
// writer thread tell its owner and then sleep for good; other threads get what they would have got without it. In the
// preload object, which has a standard library of its own, the job's handler is not touched.
#pragma once

namespace plumbline::recorder {

// Covers the thread that makes it, one at a time in a process. `tell` must not allocate.
class OutOfMemoryGuard {
 public:
  OutOfMemoryGuard(void (*tell)(void* owner), void* owner) noexcept;
  ~OutOfMemoryGuard();
  OutOfMemoryGuard(const OutOfMemoryGuard&) = delete;
  OutOfMemoryGuard& operator=(const OutOfMemoryGuard&) = delete;
};

}  // namespace plumbline::recorder
