#include "shim/python/memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace plumbline::shim {
namespace {

// Where the system call is forbidden (a container's filter), the process can still read itself through a file.
std::size_t read_through_file(Address from, void* to, std::size_t bytes) noexcept {
  const int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t count = pread(file, to, bytes, static_cast<off_t>(from));
  close(file);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

std::size_t read_guarded(Address from, void* to, std::size_t bytes) noexcept {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMostParts = 64;
  // One part a page: a part that touches an unmapped page may fail as a whole.
  iovec parts[kMostParts];
  std::size_t done = 0;
  while (done < bytes) {
    std::size_t count = 0;
    std::size_t asked = 0;
    for (; count < kMostParts && done + asked < bytes; ++count) {
      const Address at = from + done + asked;
      const std::size_t length = std::min(bytes - done - asked, kPage - at % kPage);
      parts[count] = {reinterpret_cast<void*>(at), length};
      asked += length;
    }
    const iovec target{static_cast<char*>(to) + done, asked};
    const ssize_t got = process_vm_readv(getpid(), &target, 1, parts, count, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM))
      return done + read_through_file(from + done, static_cast<char*>(to) + done, bytes - done);
    if (got > 0) done += static_cast<std::size_t>(got);
    if (got < static_cast<ssize_t>(asked)) break;
  }
  return done;
}

}  // namespace plumbline::shim
