#include "reader/checkpoint/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace plumbline::reader {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe in the place of a checkpoint must not block.
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
  const auto size = static_cast<std::size_t>(info.st_size);
  void* data = nullptr;
  if (size != 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) {
      const std::string why = std::generic_category().message(errno);
      ::close(descriptor);
      return Status(Code::kUnreadable, path + " cannot be mapped into memory: " + why + ".");
    }
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, descriptor, static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ != 0) munmap(const_cast<std::byte*>(data_), size_);
  ::close(descriptor_);
}

bool MappedFile::intact() const {
  struct stat info {};
  return fstat(descriptor_, &info) == 0 && static_cast<std::size_t>(info.st_size) >= size_;
}

}  // namespace plumbline::reader
