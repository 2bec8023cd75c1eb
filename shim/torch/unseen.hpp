// While it lives, operators that the calling thread runs go past autograd, modes and profilers of the job, and the
// blocks that they take from the caching allocator are not recorded as the job's.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace plumbline::shim::adapter {

class Unseen {
 public:
  Unseen() noexcept : outer_(depth_) { ++depth_; }
  ~Unseen() { depth_ = outer_; }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

  // Whether the calling thread is inside of one.
  static bool here() noexcept { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
  int outer_;
  at::AutoDispatchBelowADInplaceOrView below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard without_modes_{c10::DispatchKeySet(
      {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot, c10::DispatchKey::Functionalize,
       c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA})};
  at::RecordFunctionGuard unprofiled_{false};
};

}  // namespace plumbline::shim::adapter
