#include "recorder/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

namespace plumbline::recorder {

std::optional<std::string> read_small_file(int fd, std::size_t limit) {
  std::string text(limit, '\0');
  std::size_t have = 0;
  while (have < limit) {
    const ssize_t got = pread(fd, text.data() + have, limit - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

std::optional<std::string> read_small_file(const char* path, std::size_t limit) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  auto text = read_small_file(fd, limit);
  close(fd);
  return text;
}

}  // namespace plumbline::recorder
