#include "recorder/log.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <ctime>
#include <new>

#include "recorder/clock.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::uint32_t kLinesPerMinute = 30;
constexpr std::uint64_t kMinute = 60'000'000'000;
constexpr std::size_t kHeldBytes = 16 << 10;

std::string stamped(std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char stamp[40];
  const std::size_t length = std::strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::string line(stamp, length);
  line += " plumbline[" + std::to_string(getpid()) + "]: ";
  line += text;
  line += '\n';
  return line;
}

bool write_to(int fd, std::string_view text) { return ::write(fd, text.data(), text.size()) >= 0; }

alignas(Log) unsigned char g_storage[sizeof(Log)];
Log* g_log = nullptr;

}  // namespace

void Log::line(std::string_view text) noexcept {
  const std::lock_guard lock(mutex_);
  if (!admit()) return;
  const std::string line = stamped(text);
  if (released_) {
    write(line);
  } else if (held_.size() + line.size() <= kHeldBytes) {
    held_ += line;
  }
}

void Log::bare_line(std::string_view text) noexcept {
  iovec parts[] = {{const_cast<char*>("plumbline: "), 11},
                   {const_cast<char*>(text.data()), text.size()},
                   {const_cast<char*>("\n"), 1}};
  const int fd = open_to_append();
  const ssize_t written = writev(fd < 0 ? STDERR_FILENO : fd, parts, 3);
  if (fd >= 0) close(fd);
  if (written < 0 && fd >= 0) (void)!writev(STDERR_FILENO, parts, 3);
}

void Log::use_directory(const std::string& directory) noexcept {
  const std::lock_guard lock(mutex_);
  path_ = directory.empty() ? "" : directory + "/plumbline.log";
}

void Log::release() noexcept {
  const std::lock_guard lock(mutex_);
  released_ = true;
  if (!held_.empty()) write(held_);
  held_.clear();
}

void Log::write(std::string_view text) noexcept {
  // Opened for each line: lines are rare, and the job may close descriptors that it does not know.
  const int fd = open_to_append();
  if (fd < 0 || !write_to(fd, text)) write_to(STDERR_FILENO, text);
  if (fd >= 0) close(fd);
}

int Log::open_to_append() const noexcept {
  return path_.empty() ? -1 : open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

bool Log::admit() noexcept {
  const std::uint64_t now = monotonic_ns();
  if (now - window_start_ns_ > kMinute) {
    window_start_ns_ = now;
    in_window_ = 0;
    if (suppressed_ != 0 && released_) write(stamped(std::to_string(suppressed_) + " lines were left out here"));
    suppressed_ = 0;
  }
  if (++in_window_ <= kLinesPerMinute) return true;
  ++suppressed_;
  return false;
}

Log& log() noexcept {
  // A static of the function, not std::call_once: that would cost thread-local storage in every process.
  [[maybe_unused]] static const bool made = (g_log = new (g_storage) Log, true);
  return *g_log;
}

void renew_log_after_fork() noexcept {
  log();
  g_log = new (g_storage) Log;
}

}  // namespace plumbline::recorder
