// Holds a mutex while it lives. Of pthread rather than std::mutex: a forked child makes its own anew.
#pragma once

#include <pthread.h>

namespace plumbline::recorder {

class MutexLock {
 public:
  explicit MutexLock(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~MutexLock() { pthread_mutex_unlock(&mutex_); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace plumbline::recorder
