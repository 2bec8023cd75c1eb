#include "shim/cuda/runtime_function.hpp"

#include <dlfcn.h>
#include <errno.h>

#include <cstring>

#include "shim/core/library_symbol.hpp"
#include "shim/core/log.hpp"

namespace plumbline::shim::cuda {
namespace {

constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};

constinit std::atomic<bool> complained{false};

void* look_up(const char* symbol, const void* site) noexcept {
  if (void* found = symbol_in_later_preload(symbol)) return found;
  if (void* found = symbol_in_library_of(site, symbol)) return found;
  // The caller is linked into the main program, whose scope begins with the preload object, or was handed the address.
  for (const char* runtime : kRuntimes) {
    if (void* found = symbol_in_library(runtime, symbol)) return found;
  }
  return nullptr;
}

// NCCL allocates in threads of its own too.
bool is_nccl(const void* site) noexcept {
  Dl_info info{};
  return ::dladdr(site, &info) != 0 && std::strstr(info.dli_fname, "libnccl.so") != nullptr;
}

}  // namespace

Found RuntimeFunction::find(const void* site) noexcept {
  const int saved_errno = errno;
  const Found found{look_up(symbol_, site), is_nccl(site)};
  if (found.pointer != nullptr) {
    remember(site, found);
  } else if (!complained.exchange(true)) {
    log_line("%s was called, and no loaded CUDA runtime has it", symbol_);
  }
  errno = saved_errno;
  return found;
}

void RuntimeFunction::remember(const void* site, const Found& found) noexcept {
  constexpr std::size_t kSites = sizeof sites_ / sizeof sites_[0];
  if (used_.load(std::memory_order_relaxed) >= kSites) return;
  const std::size_t slot = used_.fetch_add(1, std::memory_order_relaxed);
  if (slot >= kSites) return;
  sites_[slot].function.store(found.pointer, std::memory_order_relaxed);
  sites_[slot].for_nccl.store(found.for_nccl, std::memory_order_relaxed);
  sites_[slot].address.store(site, std::memory_order_release);
}

const char* runtime_name() noexcept {
  for (const char* runtime : kRuntimes) {
    if (is_loaded(runtime)) return runtime;
  }
  return nullptr;
}

}  // namespace plumbline::shim::cuda
