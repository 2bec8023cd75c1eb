// The preload object's function table, as the parts of the adapter see it. Set once, before anything is hooked.
#pragma once

#include <string_view>

#include "shim/adapter_api.hpp"
#include "shim/hook_list.hpp"

namespace plumbline::shim::adapter {

void set_host(const PlumblineHost* table) noexcept;
const PlumblineHost& host() noexcept;

inline std::uint64_t text_id(std::string_view text) noexcept { return host().text_id(text.data(), text.size()); }

// Name and number of a hook in one word, for hook_state.
void report_hook(Hook hook, bool active, const char* detail) noexcept;

}  // namespace plumbline::shim::adapter
