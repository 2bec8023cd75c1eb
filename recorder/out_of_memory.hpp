// When the writer thread finds no memory: it must not take the job down with it.
//
// The recorder is built without exceptions, so a failing operator new would end the process. A new-handler lets the
// writer thread tell its owner and then sleep for good; other threads get what they would have got without it. In the
// preload object, which has a standard library of its own, the job's handler is not touched.
#pragma once

namespace plumbline::recorder {

// For the writer thread to call once. `tell` must not allocate.
void survive_out_of_memory(void (*tell)(void* owner), void* owner) noexcept;

}  // namespace plumbline::recorder
