#include "reader/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace plumbline::reader {

Result<RegularFile> open_regular(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    const Code code = errno == ENOENT ? Code::kNotFound : Code::kUnreadable;
    return Status(code, path + " cannot be opened: " + std::generic_category().message(errno) + ".");
  }
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status(Code::kForeign, path + " is not a regular file.");
  }
  return RegularFile{descriptor, static_cast<std::uint64_t>(info.st_size)};
}

}  // namespace plumbline::reader
