#include "reader/checkpoint/mapped_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "reader/regular_file.hpp"

namespace plumbline::reader {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const Result<RegularFile> file = open_regular(path);
  if (!file.ok()) return file.status();
  const auto [descriptor, bytes] = *file;
  const auto size = static_cast<std::size_t>(bytes);
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
