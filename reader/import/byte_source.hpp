// A file as a stream of bytes, from its beginning to its end; what is packed with gzip is unpacked on the way.
//
//   Result<ByteSource> source = ByteSource::open(path);
//   while (const std::size_t n = source->read(window)) use(window.first(n));
//   if (!source->status().ok()) …           // damaged or cut off: what came before it was still given
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reader/file.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

class ByteSource {
 public:
  static Result<ByteSource> open(const std::string& path);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  const std::string& path() const { return file_.path(); }
  bool packed() const { return unpacker_ != nullptr; }
  std::uint64_t file_size() const { return file_.size(); }
  // Bytes given, fewer than asked for only at the end; 0: the end, or a failure.
  std::size_t read(std::span<std::uint8_t> to);
  const Status& status() const { return status_; }

 private:
  struct Unpacker;
  explicit ByteSource(File file);
  std::size_t unpack(std::span<std::uint8_t> to);

  File file_;
  std::uint64_t offset_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  // null: the file is not packed
  Status status_;
};

// All of it. More than `limit` bytes are refused: a packed file says nothing of its real size.
Result<std::vector<std::uint8_t>> read_whole(ByteSource& source, std::uint64_t limit);

// At most `size` bytes from the beginning.
Result<std::string> read_beginning(const std::string& path, std::size_t size);

}  // namespace plumbline::reader::imports
