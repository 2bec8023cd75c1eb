// What the calling thread is doing inside NCCL: 16 bytes of static thread-local storage.
#pragma once

#include <cstdint>

namespace plumbline::shim::nccl {

struct NcclThread {
  std::uint64_t group_call;   // id of the open group call, 0 none
  std::uint32_t group_depth;  // ncclGroupStart calls without their ncclGroupEnd
  std::uint16_t inside;       // real NCCL functions on the stack: what they call is their own affair
  bool group_captured;        // a member of the open group went to a capturing stream
};
static_assert(sizeof(NcclThread) == 16);

[[gnu::tls_model("initial-exec")]] inline thread_local constinit NcclThread nccl_thread{};

}  // namespace plumbline::shim::nccl
