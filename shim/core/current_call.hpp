// Which c10d collective the calling thread is inside: written by the c10d hooks, read by the hooks of the libraries
// that c10d calls (NCCL), so that an inner call names its parent and a new communicator its process group.
//
//   const CurrentCall outer = enclosing_call(__builtin_frame_address(0));
//   record.parent = outer.collective;
//
// An exception of the real call passes through the c10d hook without running its last line, so the entry can outlive
// its frame. Stacks grow downwards: an entry is alive only for code whose frame lies below the entry's own. That is
// necessary, not sufficient; shim/core/live_frame.hpp tells for certain, at a price.
#pragma once

#include <cstdint>

namespace plumbline::shim {

struct CurrentCall {
  std::uint64_t collective;  // CollectiveRecord::id, 0 none
  std::uint64_t group;       // GroupRecord::group, 0 not known
  const void* frame;         // frame of the hook that entered it
  const void* caller;        // where that hook returns to
  std::uint64_t works;       // work objects that it has enqueued so far
  const void* last_work;     // the last of them
};

// One word of static thread-local storage is all that this takes of a job. Null on threads that never called c10d.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit CurrentCall* thread_call = nullptr;

// The calling thread's entry, made at its first call; null where there is no memory for it.
CurrentCall* own_call() noexcept;

// The collective around the code whose frame address is `frame`, all zero when there is none.
inline CurrentCall enclosing_call(const void* frame) noexcept {
  return thread_call != nullptr && thread_call->frame > frame ? *thread_call : CurrentCall{};
}

}  // namespace plumbline::shim
