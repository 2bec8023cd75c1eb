// A timed wait that another thread can end. Monotonic, so that a step of the wall clock does not stop the writer.
#pragma once

#include <pthread.h>

#include <ctime>

#include <cstdint>

namespace plumbline::recorder {

class Wakeup {
 public:
  Wakeup() noexcept {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // True when set() was called, before or during the wait. It stays set.
  bool wait(std::uint64_t nanoseconds) noexcept {
    timespec end{};
    clock_gettime(CLOCK_MONOTONIC, &end);
    const std::uint64_t total = static_cast<std::uint64_t>(end.tv_nsec) + nanoseconds;
    end.tv_sec += static_cast<std::time_t>(total / 1'000'000'000);
    end.tv_nsec = static_cast<long>(total % 1'000'000'000);
    pthread_mutex_lock(&mutex_);
    while (!set_ && pthread_cond_timedwait(&condition_, &mutex_, &end) == 0) continue;
    const bool result = set_;
    pthread_mutex_unlock(&mutex_);
    return result;
  }

  void set() noexcept {
    pthread_mutex_lock(&mutex_);
    set_ = true;
    pthread_cond_broadcast(&condition_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_;
  bool set_ = false;
};

}  // namespace plumbline::recorder
