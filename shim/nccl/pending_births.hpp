// Splits and shrinks whose handle is not there yet when their call comes back: inside a group call it is written by the
// outermost ncclGroupEnd, on a non-blocking communicator some time before ncclCommGetAsyncError first says success.
//
// NCCL keeps the place where it is to be written, so the place is valid until the calling thread has learnt of the end
// by one of those two calls. Only that thread's call settles a birth: another thread might look too late.
#pragma once

#include "shim/nccl/comms.hpp"

namespace plumbline::shim::nccl {

// Remembers the birth for the calling thread. False when too many are pending.
bool defer_birth(const CommBirth& birth, void* const* place) noexcept;

// The calling thread has learnt that what it deferred ended with `code`. Cheap when nothing is pending anywhere.
void settle_births(int code) noexcept;

}  // namespace plumbline::shim::nccl
