// Which hooks are on, for the trace: silence must be explained. A hook that turned out to be off before recording
// started is remembered and reported when it starts.
//
// What no process can report of itself, because our code never runs in it, is `plumbline doctor`'s to find from
// outside: a setuid program (the loader drops LD_PRELOAD), a static binary (there is no loader), a library that was
// loaded with RTLD_DEEPBIND or linked with -Bsymbolic (its calls do not look here), and NCCL linked into
// libtorch_cuda.so.
#pragma once

#include <string_view>

#include "shim/hook_list.hpp"

namespace plumbline::shim {

const char* hook_name(Hook hook) noexcept;

// `reason` must be a literal: it is kept.
void report_hook_off(Hook hook, const char* reason) noexcept;
void report_hook_on(Hook hook, std::string_view detail) noexcept;

// Repeats to the recorder, which has just started, what is known of each hook.
void report_all_hooks() noexcept;

}  // namespace plumbline::shim
