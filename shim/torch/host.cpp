#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter {
namespace {

const PlumblineHost* the_host = nullptr;

constexpr const char* kHookNames[] = {
#define PLUMBLINE_HOOK_NAME(name, text) text,
    PLUMBLINE_HOOKS(PLUMBLINE_HOOK_NAME)
#undef PLUMBLINE_HOOK_NAME
};

}  // namespace

void set_host(const PlumblineHost* table) noexcept { the_host = table; }

const PlumblineHost& host() noexcept { return *the_host; }

void report_hook(Hook hook, bool active, const char* detail) noexcept {
  host().hook_state(hook, kHookNames[hook], active, detail);
}

}  // namespace plumbline::shim::adapter
