#include "shim/core/immediate_exit.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "shim/core/lifecycle.hpp"

namespace plumbline::shim {
namespace {

constinit std::atomic<std::uintptr_t> python_begin{0};
constinit std::atomic<std::uintptr_t> python_end{0};

// Keeps the range of the library's segments when it is the one that holds the address.
int keep_range_of(dl_phdr_info* library, std::size_t /*size*/, void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t start = library->dlpi_addr + segment.p_vaddr;
    if (start < begin) begin = start;
    if (start + segment.p_memsz > end) end = start + segment.p_memsz;
  }
  if (wanted < begin || wanted >= end) return 0;
  python_begin.store(begin, std::memory_order_relaxed);
  python_end.store(end, std::memory_order_relaxed);
  return 1;
}

}  // namespace

bool is_in_python(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= python_begin.load(std::memory_order_relaxed) && at < python_end.load(std::memory_order_relaxed);
}

void watch_immediate_exit() noexcept {
  void* python = dlsym(RTLD_DEFAULT, "Py_AddPendingCall");
  if (python != nullptr) dl_iterate_phdr(keep_range_of, python);
}

}  // namespace plumbline::shim

extern "C" [[gnu::visibility("default")]] void _exit(int status) {
  using namespace plumbline::shim;
  if (is_in_python(__builtin_return_address(0))) end_recording(status);
  // All that libc's own does; a vfork child, which may come here with its parent's memory, needs no more.
  for (;;) syscall(SYS_exit_group, status);
}
