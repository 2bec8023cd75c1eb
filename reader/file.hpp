// A file that is only read, by position. Never mapped: a file that shrinks under a mapping kills its reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "reader/status.hpp"

namespace plumbline::reader {

class File {
 public:
  // Regular files only: a pipe or a device in a run directory is not a trace, and opening one may block.
  static Result<File> open(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::string& path() const { return path_; }
  // As it was when the file was opened: a file that grows is read up to there.
  std::uint64_t size() const { return size_; }
  // The first place at or after `offset` that is not in a hole, which reads as zeros; size() when there is none.
  std::uint64_t next_data(std::uint64_t offset) const;
  // Bytes read, fewer than asked for at the end of the file or after an error.
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  File(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace plumbline::reader
