// The recorder's own log: one line at a time to <run>/plumbline.log, in a single write. Standard error is used only
// while there is no usable run directory, standard output never.
//
// While a process is pending its lines are held back, so that launchers and workers leave no log behind; they come out
// when it turns out to train. Lines beyond a rate are counted, not written. Safe from any thread; never fails.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace plumbline::recorder {

class Log {
 public:
  // Until told otherwise lines are held.
  void line(std::string_view text) noexcept;

  // Without time, rate or allocation, for a thread that has no memory left. May be called while line() is under way in
  // the same thread, and is written at once.
  void bare_line(std::string_view text) noexcept;

  void use_directory(const std::string& directory) noexcept;  // where lines go once released
  void release() noexcept;                                    // writes held lines; later ones are written at once

 private:
  void write(std::string_view text) noexcept;
  int open_to_append() const noexcept;
  bool admit() noexcept;

  std::mutex mutex_;
  std::string path_;
  std::string held_;
  bool released_ = false;
  std::uint64_t window_start_ns_ = 0;
  std::uint32_t in_window_ = 0;
  std::uint32_t suppressed_ = 0;
};

// The process's log. Never destroyed.
Log& log() noexcept;

// In the child of a fork: another thread may have held the log's lock, so the child starts with a new one.
void renew_log_after_fork() noexcept;

}  // namespace plumbline::recorder
