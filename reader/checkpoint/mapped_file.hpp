// A file in memory as far as it is looked at. Checkpoints are larger than memory, and most of one is compared once.
//
// A mapped file must not be cut while it is read: who reads much asks intact() before each tensor.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "reader/status.hpp"

namespace plumbline::reader {

class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // False when the file has become shorter than it was.
  bool intact() const;

 private:
  MappedFile(std::string path, int descriptor, const std::byte* data, std::size_t size)
      : path_(std::move(path)), descriptor_(descriptor), data_(data), size_(size) {}

  std::string path_;
  int descriptor_;
  const std::byte* data_;
  std::size_t size_;
};

}  // namespace plumbline::reader
