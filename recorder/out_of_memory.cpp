#include "recorder/out_of_memory.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace plumbline::recorder {
namespace {

// Of the writer thread; a forked child's own writer takes the place of its parent's.
pthread_t g_thread;
void (*g_tell)(void*) = nullptr;
void* g_owner = nullptr;
std::atomic<bool> g_armed{false};

void on_no_memory() {
  if (g_armed.load(std::memory_order_acquire) && pthread_equal(pthread_self(), g_thread) != 0) {
    g_tell(g_owner);
    while (true) pause();
  }
  // Not ours to answer for: without a handler the next attempt fails as it would have.
  std::set_new_handler(nullptr);
}

}  // namespace

void survive_out_of_memory(void (*tell)(void* owner), void* owner) noexcept {
  g_armed.store(false, std::memory_order_release);
  g_thread = pthread_self();
  g_tell = tell;
  g_owner = owner;
  g_armed.store(true, std::memory_order_release);
  std::set_new_handler(on_no_memory);
}

}  // namespace plumbline::recorder
