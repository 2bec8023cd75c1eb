#include "shim/core/live_frame.hpp"

#include <unwind.h>

#include <cstdint>

namespace plumbline::shim {
namespace {

struct Walk {
  std::uintptr_t frame;
  std::uintptr_t caller;
  bool live;
};

// libgcc tells of each context the stack pointer that it had when it called on: the first one above `frame` is the
// caller of the function that `frame` belonged to, if that function is still running.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) noexcept {
  auto* walk = static_cast<Walk*>(argument);
  if (_Unwind_GetCFA(context) <= walk->frame) return _URC_NO_REASON;
  walk->live = _Unwind_GetIP(context) == walk->caller;
  return _URC_END_OF_STACK;
}

}  // namespace

bool is_live_frame(const void* frame, const void* caller) noexcept {
  Walk walk{reinterpret_cast<std::uintptr_t>(frame), reinterpret_cast<std::uintptr_t>(caller), false};
  _Unwind_Backtrace(visit, &walk);
  return walk.live;
}

}  // namespace plumbline::shim
