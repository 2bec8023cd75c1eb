// How far long work is, on one line of a terminal that is wiped at the end. Short work shows nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <ostream>
#include <string_view>

namespace plumbline::tools {

class ProgressLine {
 public:
  // Without `on` it stays silent: nobody wants such lines in a log file.
  ProgressLine(std::ostream& err, bool on) : err_(err), on_(on) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // May be called from several threads. With the last one done the line is gone.
  void show(std::string_view what, std::size_t done, std::size_t all);

 private:
  void wipe();

  using Clock = std::chrono::steady_clock;

  std::ostream& err_;
  bool on_;
  std::mutex lock_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
  std::size_t shown_ = 0;  // columns
};

}  // namespace plumbline::tools
