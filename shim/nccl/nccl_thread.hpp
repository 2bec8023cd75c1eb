// What the calling thread is doing inside NCCL, in one word of static thread-local storage.
#pragma once

#include <cstdint>

namespace plumbline::shim::nccl {

struct NcclThread {
  std::uint64_t group_call : 44;     // id of the open group call, 0 none
  std::uint64_t group_captured : 1;  // a member of the open group went to a capturing stream
  std::uint64_t group_depth : 11;    // ncclGroupStart calls without their ncclGroupEnd
  std::uint64_t inside : 8;          // real NCCL functions on the stack: what they call is their own affair
};
static_assert(sizeof(NcclThread) == 8);

[[gnu::tls_model("initial-exec")]] inline thread_local constinit NcclThread nccl_thread{};

}  // namespace plumbline::shim::nccl
