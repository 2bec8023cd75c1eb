#include "reader/frame_file.hpp"

#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_decompressBound
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace plumbline::reader {
namespace {

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;
constexpr std::uint32_t kSkippableMagic = 0x184D2A50;  // to …5F
constexpr std::uint32_t kSkippableMask = 0xFFFFFFF0;
constexpr std::uint32_t kSeekTableFooter = 0x8F92EAB1;
constexpr std::size_t kSeekTableFooterBytes = 9;
constexpr std::size_t kFrameHeaderBytes = 18;  // at most
constexpr std::size_t kFirstWindow = std::size_t{64} << 10;

// A hostile file can hold a million starts of frames that fail only at their end. After so many bytes looked at in
// vain, in files' lengths and beyond a flat allowance, the rest is given up.
constexpr std::uint64_t kPatience = 16;
constexpr std::uint64_t kPatienceBytes = std::uint64_t{64} << 20;

std::uint32_t load32(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

bool skippable(std::uint32_t magic) { return (magic & kSkippableMask) == kSkippableMagic; }

// The first place of a number in little-endian order, found by its last byte; npos when it is not there. What lies
// behind damage may be gigabytes, most of it zeros.
constexpr std::size_t npos = std::string_view::npos;
template <class Matches>
std::size_t find_number(std::span<const std::uint8_t> bytes, std::uint8_t last_byte, const Matches& matches) {
  for (std::size_t at = 3; at < bytes.size(); ++at) {
    const void* const found = std::memchr(bytes.data() + at, last_byte, bytes.size() - at);
    if (found == nullptr) return npos;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    if (matches(load32(bytes.data() + at - 3))) return at - 3;
  }
  return npos;
}

// The first place where a frame may start.
std::size_t find_frame(std::span<const std::uint8_t> bytes) {
  const std::size_t zstd =
      find_number(bytes, kZstdMagic >> 24, [](std::uint32_t number) { return number == kZstdMagic; });
  if (zstd != npos) bytes = bytes.first(zstd + 3);
  return std::min(zstd, find_number(bytes, kSkippableMagic >> 24, skippable));
}

}  // namespace

FrameBuffer::FrameBuffer() : context_(ZSTD_createDCtx()) {}
FrameBuffer::~FrameBuffer() = default;

void FrameBuffer::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

std::span<const std::uint8_t> FrameBuffer::window(const File& file, std::uint64_t offset, std::size_t least) {
  if (offset >= file.size()) return {};
  least = static_cast<std::size_t>(std::min<std::uint64_t>(least, file.size() - offset));
  const bool held = offset >= window_offset_ && offset + least <= window_offset_ + window_bytes_;
  if (!held) {
    // Whole windows at a time: frames are often a few kilobytes. A frame that needs a longer one keeps what it has.
    const auto want =
        static_cast<std::size_t>(std::min<std::uint64_t>(std::max(least, kFirstWindow), file.size() - offset));
    const std::uint64_t end = window_offset_ + window_bytes_;
    const std::size_t kept = offset >= window_offset_ && offset < end ? static_cast<std::size_t>(end - offset) : 0;
    if (kept > 0 && offset != window_offset_)
      std::memmove(window_.data(), window_.data() + (offset - window_offset_), kept);
    if (window_.size() < want) window_.resize(want);
    window_offset_ = offset;
    window_bytes_ = kept + file.read_at(offset + kept, window_.data() + kept, want - kept);
  }
  return {window_.data() + (offset - window_offset_),
          static_cast<std::size_t>(window_offset_ + window_bytes_ - offset)};
}

std::uint8_t* FrameBuffer::output(std::size_t bytes) {
  if (output_bytes_ < bytes || !output_) {
    output_.reset();
    output_bytes_ = std::max<std::size_t>(bytes, kFirstWindow);
    output_.reset(new std::uint8_t[output_bytes_]);
  }
  return output_.get();
}

FrameFile::Try FrameFile::try_frame(std::uint64_t offset, FrameBuffer& buffer, Frame& frame,
                                    std::uint64_t& cost) const {
  std::span<const std::uint8_t> bytes = buffer.window(file_, offset, kFrameHeaderBytes);
  if (bytes.size() < 4) return Try::kCutOff;
  if (skippable(load32(bytes.data()))) return try_skippable(offset, buffer, frame);
  if (load32(bytes.data()) != kZstdMagic) return Try::kDamaged;

  std::size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  while (ZSTD_isError(size)) {
    cost += bytes.size();
    if (ZSTD_getErrorCode(size) != ZSTD_error_srcSize_wrong) return Try::kDamaged;
    if (offset + bytes.size() >= file_.size()) return Try::kCutOff;
    if (bytes.size() > kMaxCompressed) return Try::kDamaged;
    const std::size_t before = bytes.size();
    bytes = buffer.window(file_, offset, std::max(before * 2, kFirstWindow));
    if (bytes.size() <= before) return Try::kCutOff;
    size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  }

  unsigned long long content = ZSTD_getFrameContentSize(bytes.data(), size);
  if (content == ZSTD_CONTENTSIZE_ERROR) return Try::kDamaged;
  if (content == ZSTD_CONTENTSIZE_UNKNOWN) content = ZSTD_decompressBound(bytes.data(), size);
  if (content > kMaxContent) return Try::kDamaged;
  std::uint8_t* output = buffer.output(static_cast<std::size_t>(content));
  const std::size_t written =
      ZSTD_decompressDCtx(buffer.context_.get(), output, static_cast<std::size_t>(content), bytes.data(), size);
  if (ZSTD_isError(written)) {
    cost += size + content;
    return Try::kDamaged;
  }
  frame = {offset, size, {output, written}, false};
  return Try::kFrame;
}

// The writer makes one kind of skippable frame, the seek table. Others are stepped over only where their length leads
// to a place at which a frame starts: a length that damage has changed must not hide good frames.
FrameFile::Try FrameFile::try_skippable(std::uint64_t offset, FrameBuffer& buffer, Frame& frame) const {
  const std::span<const std::uint8_t> head = buffer.window(file_, offset, 8);
  if (head.size() < 8) return Try::kCutOff;
  const std::uint64_t end = offset + 8 + load32(head.data() + 4);
  if (end > file_.size()) return Try::kCutOff;
  if (end < file_.size() && !plausible_start(end, buffer)) return Try::kDamaged;
  bool table = false;
  if (end - offset >= 8 + kSeekTableFooterBytes) {
    const std::span<const std::uint8_t> footer = buffer.window(file_, end - 4, 4);
    table = footer.size() >= 4 && load32(footer.data()) == kSeekTableFooter;
  }
  frame = {offset, end - offset, {}, table};
  return Try::kFrame;
}

bool FrameFile::plausible_start(std::uint64_t offset, FrameBuffer& buffer) const {
  const std::span<const std::uint8_t> bytes = buffer.window(file_, offset, 4);
  return bytes.size() >= 4 && (load32(bytes.data()) == kZstdMagic || skippable(load32(bytes.data())));
}

// The next place at or after `offset` where a frame may start; the file's size when there is none.
std::uint64_t FrameFile::find_magic(std::uint64_t offset, FrameBuffer& buffer) const {
  for (offset = file_.next_data(offset); offset + 4 <= file_.size(); offset = file_.next_data(offset)) {
    const std::span<const std::uint8_t> bytes = buffer.window(file_, offset, 4);
    if (bytes.size() < 4) break;
    if (const std::size_t at = find_frame(bytes); at != npos) return offset + at;
    offset += bytes.size() - 3;
  }
  return file_.size();
}

bool FrameFile::next(Position& at, FrameBuffer& buffer, Frame& frame, std::optional<Damage>& damage) const {
  damage.reset();
  const std::uint64_t start = at.offset;
  bool cut_off = false;
  bool gave_up = false;
  while (at.offset < file_.size()) {
    std::uint64_t cost = 4;
    const Try result = try_frame(at.offset, buffer, frame, cost);
    if (result == Try::kFrame) break;
    if (at.offset == start) cut_off = result == Try::kCutOff;
    at.wasted += cost;
    if (at.wasted / kPatience > file_.size() + kPatienceBytes) {
      gave_up = true;
      at.offset = file_.size();
      break;
    }
    at.offset = find_magic(at.offset + 1, buffer);
  }
  const bool found = at.offset < file_.size();
  if (at.offset > start) {
    damage = Damage{start, at.offset - start, {}};
    if (gave_up)
      damage->what = file_.path() + " is damaged beyond repair from byte " + std::to_string(start) + " on.";
    else if (!found && cut_off)
      damage->what = file_.path() + " ends in the middle of a frame that begins at byte " + std::to_string(start) + ".";
    else
      damage->what = file_.path() + " is damaged: " + std::to_string(at.offset - start) + " bytes from byte " +
                     std::to_string(start) + " on are no whole frame.";
    damage->cut_off = !found && cut_off;
  }
  if (found) at.offset += frame.compressed_bytes;
  return found;
}

bool FrameFile::load(std::uint64_t offset, FrameBuffer& buffer, Frame& frame) const {
  std::uint64_t cost = 0;
  return try_frame(offset, buffer, frame, cost) == Try::kFrame;
}

}  // namespace plumbline::reader
