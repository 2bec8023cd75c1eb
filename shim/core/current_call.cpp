#include "shim/core/current_call.hpp"

#include <pthread.h>

#include <cstdlib>

namespace plumbline::shim {
namespace {

void give_back(void* call) noexcept {
  thread_call = nullptr;
  std::free(call);
}

// -1: none is left. Such a thread's entry then lives as long as the process.
int make_key() noexcept {
  pthread_key_t key{};
  return pthread_key_create(&key, give_back) == 0 ? static_cast<int>(key) : -1;
}

}  // namespace

CurrentCall* own_call() noexcept {
  if (thread_call != nullptr) return thread_call;
  static const int key = make_key();
  thread_call = static_cast<CurrentCall*>(std::calloc(1, sizeof(CurrentCall)));
  if (thread_call != nullptr && key >= 0) pthread_setspecific(static_cast<pthread_key_t>(key), thread_call);
  return thread_call;
}

}  // namespace plumbline::shim
