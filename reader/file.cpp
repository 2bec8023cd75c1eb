#include "reader/file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "reader/regular_file.hpp"

namespace plumbline::reader {

Result<File> File::open(const std::string& path) {
  const Result<RegularFile> file = open_regular(path);
  if (!file.ok()) return file.status();
  return File(path, file->descriptor, file->size);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t File::next_data(std::uint64_t offset) const {
  const off_t data = lseek(descriptor_, static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return std::min(static_cast<std::uint64_t>(data), size_);
  return errno == ENXIO ? size_ : offset;  // other errors: the file system knows of no holes
}

std::size_t File::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace plumbline::reader
