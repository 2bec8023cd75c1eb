// Is a frame that was entered earlier on this thread still on its stack, or has an exception unwound it since?
#pragma once

namespace plumbline::shim {

// `frame` is what __builtin_frame_address(0) gave in that frame and `caller` its __builtin_return_address(0). Exact:
// walks the stack by its unwind tables, some hundred nanoseconds a frame, so only for the rare case that comparing
// addresses cannot decide. Never called inside dlopen.
bool is_live_frame(const void* frame, const void* caller) noexcept;

}  // namespace plumbline::shim
