// Which c10d collective the calling thread is inside: written by the c10d hooks, read by the hooks of the libraries
// that c10d calls (NCCL), so that an inner call names its parent and a new communicator its process group.
//
//   CurrentCall outer = current_call;                       // in the hook of the outer layer
//   current_call = {id, group, __builtin_frame_address(0)};
//   real(…);
//   current_call = outer;
//
// An exception of the real call passes through that hook without running its last line, so the entry can outlive its
// frame. Stacks grow downwards: an entry is alive only for code whose frame lies below the entry's own.
#pragma once

#include <cstdint>

namespace plumbline::shim {

struct CurrentCall {
  std::uint64_t collective;  // CollectiveRecord::id, 0 none
  std::uint64_t group;       // GroupRecord::group, 0 not known
  const void* frame;         // frame of the hook that entered it
};

[[gnu::tls_model("initial-exec")]] inline thread_local constinit CurrentCall current_call{};

// The collective around the code whose frame address is `frame`, all zero when there is none.
inline CurrentCall enclosing_call(const void* frame) noexcept {
  return current_call.frame > frame ? current_call : CurrentCall{};
}

}  // namespace plumbline::shim
