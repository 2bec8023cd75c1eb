// Which hooks are on, for the trace: silence must be explained. A hook that turned out to be off before recording
// started is remembered and reported when it starts.
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
