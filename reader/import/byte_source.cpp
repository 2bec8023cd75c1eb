#include "reader/import/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace plumbline::reader::imports {

struct ByteSource::Unpacker {
  z_stream stream{};
  std::array<std::uint8_t, 256 << 10> packed;
  bool between_members = true;  // a gzip file may consist of several, one after the other

  Unpacker() { inflateInit2(&stream, 16 + MAX_WBITS); }
  ~Unpacker() { inflateEnd(&stream); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
};

ByteSource::ByteSource(File file) : file_(std::move(file)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
  Result<File> file = File::open(path);
  if (!file.ok()) return file.status();
  std::array<std::uint8_t, 2> magic{};
  const bool gzip = file->read_at(0, magic.data(), magic.size()) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  ByteSource source(std::move(*file));
  if (gzip) source.unpacker_ = std::make_unique<Unpacker>();
  return source;
}

std::size_t ByteSource::read(std::span<std::uint8_t> to) {
  if (unpacker_ != nullptr) return unpack(to);
  const std::size_t n = file_.read_at(offset_, to.data(), to.size());
  offset_ += n;
  return n;
}

std::size_t ByteSource::unpack(std::span<std::uint8_t> to) {
  z_stream& stream = unpacker_->stream;
  stream.next_out = to.data();
  stream.avail_out = static_cast<uInt>(to.size());
  while (stream.avail_out != 0 && status_.ok()) {
    if (stream.avail_in == 0) {
      const std::size_t n = file_.read_at(offset_, unpacker_->packed.data(), unpacker_->packed.size());
      offset_ += n;
      stream.next_in = unpacker_->packed.data();
      stream.avail_in = static_cast<uInt>(n);
      if (n == 0) {
        if (!unpacker_->between_members)
          status_ = Status(Code::kDamaged, path() +
                                               ": the gzip file ends in the middle: it was cut off, or is still "
                                               "being written.");
        break;
      }
    }
    unpacker_->between_members = false;
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      unpacker_->between_members = true;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      status_ = Status(Code::kDamaged, path() + ": the gzip file is damaged at or before byte " +
                                           std::to_string(offset_ - stream.avail_in) + ".");
    }
  }
  return to.size() - stream.avail_out;
}

Result<std::vector<std::uint8_t>> read_whole(ByteSource& source, std::uint64_t limit) {
  std::vector<std::uint8_t> bytes;
  std::size_t chunk = source.packed() ? std::size_t{1} << 20 : source.file_size() + 1;
  if (!source.packed() && source.file_size() > limit)
    return Status(Code::kForeign, source.path() + " is larger than " + std::to_string(limit >> 20) +
                                      " MiB, more than a file of its kind can be.");
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + chunk);
    const std::size_t n = source.read(std::span(bytes).subspan(size));
    bytes.resize(size + n);
    if (bytes.size() > limit)
      return Status(Code::kForeign, source.path() + " unpacks to more than " + std::to_string(limit >> 20) +
                                        " MiB, more than a file of its kind can be.");
    if (n == 0) break;
    chunk = std::max<std::size_t>(std::size_t{1} << 20, bytes.size());
  }
  if (!source.status().ok()) return source.status();
  return bytes;
}

Result<std::string> read_beginning(const std::string& path, std::size_t size) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source.ok()) return source.status();
  std::string text(size, '\0');
  text.resize(source->read({reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  if (text.empty() && !source->status().ok()) return source->status();
  return text;
}

}  // namespace plumbline::reader::imports
