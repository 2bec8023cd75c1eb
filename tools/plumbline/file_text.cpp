#include "tools/plumbline/file_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace plumbline::tools {

std::string file_text(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  std::string text;
  std::array<char, 64 << 10> part;
  while (true) {
    const ssize_t bytes = read(file, part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  close(file);
  return text;
}

}  // namespace plumbline::tools
