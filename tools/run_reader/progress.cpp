#include "tools/run_reader/progress.hpp"

#include <fmt/format.h>

#include <string>

namespace plumbline::tools {
namespace {

constexpr std::chrono::milliseconds kPatience{800};
constexpr std::chrono::milliseconds kEvery{100};

}  // namespace

ProgressLine::~ProgressLine() { wipe(); }

void ProgressLine::wipe() {
  if (shown_ > 0) err_ << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
  shown_ = 0;
}

void ProgressLine::show(std::string_view what, std::size_t done, std::size_t all) {
  if (!on_) return;
  const std::lock_guard<std::mutex> guard(lock_);
  if (done >= all) return wipe();
  const Clock::time_point now = Clock::now();
  if (now - start_ < kPatience || now - last_ < kEvery) return;
  last_ = now;
  std::string line = fmt::format("{} {} of {}", what, done, all);
  const std::size_t columns = line.size();
  if (columns < shown_) line.append(shown_ - columns, ' ');
  err_ << '\r' << line << std::flush;
  shown_ = columns;
}

}  // namespace plumbline::tools
