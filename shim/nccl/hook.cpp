#include "shim/nccl/hook.hpp"

#include <errno.h>

#include <atomic>

namespace plumbline::shim::nccl {
namespace {

constinit std::atomic<bool> looked_for_nccl{false};

// NCCL may have been loaded after the process had shown that it trains, when it was reported as absent.
void look_for_nccl(const void* site) noexcept {
  if (looked_for_nccl.exchange(true, std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  report_hooks(site);
  errno = saved_errno;
}

}  // namespace

bool may_record(Function function, const void* site, bool evidence) noexcept {
  if (nccl_thread.inside != 0) return false;
  const bool open = evidence ? open_for_training("an NCCL call") : is_open();
  if (!open || !recorder::active()) return false;
  if (!looked_for_nccl.load(std::memory_order_relaxed)) [[unlikely]]
    look_for_nccl(site);
  recorder::hook_fired(hook_of(function));
  return true;
}

}  // namespace plumbline::shim::nccl

// The generated code is plain C on the outside and calls the templates by their short names.
using namespace plumbline::shim::nccl;

#include "shim/nccl/nccl_wrappers.inc"
