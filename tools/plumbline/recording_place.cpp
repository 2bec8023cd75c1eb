#include "tools/plumbline/recording_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

// Room for the name of a trace behind that of its directory.
constexpr std::size_t kTraceName = 200;

bool too_long(const fs::path& path) {
  if (path.native().size() + kTraceName > PATH_MAX) return true;
  for (const fs::path& part : path) {
    if (part.native().size() > NAME_MAX) return true;
  }
  return false;
}

// A ring file is preallocated and mapped shared; some network filesystems can do neither.
std::string ring_block(const fs::path& directory) {
  std::string name = (directory / ".plumbline-trial-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) return fmt::format("cannot be written to: {}", std::strerror(errno));
  unlink(name.c_str());
  constexpr std::size_t kBytes = 1 << 16;
  std::string block;
  if (const int error = posix_fallocate(file, 0, kBytes); error != 0) {
    block = fmt::format("cannot preallocate a file: {}", std::strerror(error));
  } else if (void* map = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); map == MAP_FAILED) {
    block = fmt::format("cannot map a file shared: {}", std::strerror(errno));
  } else {
    munmap(map, kBytes);
  }
  close(file);
  return block;
}

}  // namespace

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute;
}

fs::path existing_parent(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  return path;
}

std::string recording_block(const fs::path& directory, std::uint64_t ring_bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ring_bytes) {
    return fmt::format(
        "cannot take a ring file of {} MiB (PLUMBLINE_MEMORY_MB): files are limited to {} KiB (ulimit -f)",
        ring_bytes >> 20, limit.rlim_cur >> 10);
  }
  if (too_long(directory)) return "cannot be made: its name is too long";
  const fs::path parent = existing_parent(directory);
  const std::string block = ring_block(parent);
  return block.empty() || parent == directory ? block : fmt::format("cannot be made: {} {}", parent.string(), block);
}

}  // namespace plumbline::tools
