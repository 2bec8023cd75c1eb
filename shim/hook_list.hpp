// Every hook that a trace accounts for, by number. The NCCL functions share one number each, generated from nccl.h,
// from kFirstNcclHook on; see shim/nccl.
#pragma once

namespace plumbline::shim {

#define PLUMBLINE_HOOKS(X)                                 \
  X(kHookAllocCpu, "c10::alloc_cpu")                       \
  X(kHookFreeCpu, "c10::free_cpu")                         \
  X(kHookC10d, "c10d backend calls")                       \
  X(kHookGlooWork, "c10d gloo work execution")             \
  X(kHookWorkWait, "c10d Work::wait")                      \
  X(kHookEmbedding, "at::_ops::embedding")                 \
  X(kHookCudaMalloc, "CUDA runtime allocation calls")      \
  X(kHookCachingAllocator, "CUDA caching allocator trace") \
  X(kHookCudaGraph, "CUDA graph launches")                 \
  X(kHookDeviceWork, "device work (CUPTI)")                \
  X(kHookNccl, "NCCL C API")                               \
  X(kHookRange, "ranges (at::RecordFunction, USER_SCOPE)") \
  X(kHookStep, "optimizer steps")                          \
  X(kHookPython, "Python glue")                            \
  X(kHookFork, "fork")                                     \
  X(kHookExit, "exit")

enum Hook : unsigned {
#define PLUMBLINE_HOOK_ENUM(name, text) name,
  PLUMBLINE_HOOKS(PLUMBLINE_HOOK_ENUM)
#undef PLUMBLINE_HOOK_ENUM
      kHookCount
};

}  // namespace plumbline::shim
