#include "recorder/file_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace plumbline::recorder {
namespace {

constexpr int kLowestNumber = 100;

// The same number when there is none as high, as where a process may have few.
int moved_up(int fd) noexcept {
  if (fd < 0 || fd >= kLowestNumber) return fd;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kLowestNumber);
  if (high < 0) return fd;
  close(fd);
  return high;
}

}  // namespace

int write_at(int fd, std::span<const std::uint8_t> data, std::uint64_t offset) noexcept {
  while (!data.empty()) {
    const ssize_t done = pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    data = data.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

int read_at(int fd, std::span<std::uint8_t> data, std::uint64_t offset) noexcept {
  while (!data.empty()) {
    const ssize_t done = pread(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EIO;
    data = data.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

FileIdentity identity_of(int fd) noexcept {
  struct stat status {};
  if (fstat(fd, &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

void OwnFile::adopt(int fd) noexcept {
  fd_ = moved_up(fd);
  identity_ = identity_of(fd_);
}

int OwnFile::fd(const std::string& path) noexcept {
  if (fd_ >= 0 && identity_of(fd_) == identity_) return fd_;
  const int anew = moved_up(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (anew < 0) return -1;
  if (identity_of(anew) != identity_) {
    ::close(anew);
    errno = ENOENT;
    return -1;
  }
  return fd_ = anew;
}

void OwnFile::close() noexcept {
  // Forgotten before it is closed: a fork in between must not close a number that the job got in the meantime.
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && identity_of(fd) == identity_) ::close(fd);
}

}  // namespace plumbline::recorder
