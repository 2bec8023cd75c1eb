#include "recorder/file_io.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace plumbline::recorder {

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

}  // namespace plumbline::recorder
