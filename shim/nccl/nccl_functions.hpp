// The functions of the NCCL C API by number, and the real one behind each.
//
// The real function is the pnccl* twin in the libnccl.so.2 that the job has loaded (its nccl* name resolves to the
// preload object). Where NCCL is part of another library that exports its symbols, that library is the caller's own.
// Another interposer that is preloaded after ours comes first: it would have been called.
#pragma once

#include <cstddef>

#include "shim/hook_list.hpp"
#include "shim/nccl/nccl_names.inc"

namespace plumbline::shim::nccl {

enum Function : unsigned {
#define PLUMBLINE_NCCL_NUMBER(name) k##name,
  PLUMBLINE_NCCL_FUNCTIONS(PLUMBLINE_NCCL_NUMBER)
#undef PLUMBLINE_NCCL_NUMBER
      kFunctionCount
};

inline constexpr unsigned kFirstNcclHook = kHookCount;
inline constexpr unsigned kHookCounters = 64;  // RingFileHeader::hook_fired

// Functions of a future nccl.h that find no counter of their own share one.
constexpr unsigned hook_of(Function function) noexcept {
  const unsigned hook = kFirstNcclHook + function;
  return hook < kHookCounters ? hook : static_cast<unsigned>(kHookNccl);
}

const char* name_of(Function function) noexcept;  // "ncclAllReduce"

// Null when the process has no such function. `site` is an address in the calling code, for which one line then goes to
// the log; null when it is the hooks that ask.
void* real_function(Function function, const void* site) noexcept;

// Tells the recorder which functions are hooked in this process and which NCCL they belong to, or why none is: NCCL is
// linked statically into a library that hides it, or there is none. `site` may be null.
void report_hooks(const void* site) noexcept;

}  // namespace plumbline::shim::nccl
