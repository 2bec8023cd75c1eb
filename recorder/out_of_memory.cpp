#include "recorder/out_of_memory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace plumbline::recorder {
namespace {

std::atomic<long> g_thread{0};  // its id, 0 none
void (*g_tell)(void*) = nullptr;
void* g_owner = nullptr;

long this_thread() { return syscall(SYS_gettid); }

void on_no_memory() {
  if (g_thread.load(std::memory_order_acquire) == this_thread()) {
    g_tell(g_owner);
    while (true) pause();
  }
  // Not ours to answer for: without a handler the next attempt fails as it would have.
  std::set_new_handler(nullptr);
}

}  // namespace

OutOfMemoryGuard::OutOfMemoryGuard(void (*tell)(void* owner), void* owner) noexcept {
  g_tell = tell;
  g_owner = owner;
  g_thread.store(this_thread(), std::memory_order_release);
  std::set_new_handler(on_no_memory);
}

OutOfMemoryGuard::~OutOfMemoryGuard() { g_thread.store(0, std::memory_order_release); }

}  // namespace plumbline::recorder
