#include "shim/nccl/hook.hpp"

#include <errno.h>

#include <atomic>

namespace plumbline::shim::nccl {
namespace {

constinit std::atomic<bool> reported{false};

void report_once(const void* site) noexcept {
  if (reported.exchange(true, std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  report_hooks(site);
  errno = saved_errno;
}

}  // namespace

bool may_record(Function function, const void* site, bool evidence) noexcept {
  if (nccl_thread.inside != 0) return false;
  const bool open = evidence ? open_for_training("an NCCL call") : is_open();
  if (!open || !recorder::active()) return false;
  if (!reported.load(std::memory_order_relaxed)) [[unlikely]]
    report_once(site);
  recorder::hook_fired(hook_of(function));
  return true;
}

}  // namespace plumbline::shim::nccl

// Hidden names of the templates become reachable for the generated code, which is plain C on the outside.
using namespace plumbline::shim::nccl;

#include "shim/nccl/nccl_wrappers.inc"
