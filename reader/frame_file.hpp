// The outer layer of a trace file: whole zstd frames, found again after damage.
//
// Every frame stands alone and carries a checksum, so a frame that decompresses is good, and a frame that does not is
// skipped: the next place where a frame's magic number stands is tried, until one decompresses. Nothing that is
// undamaged is lost. What was skipped is reported as one stretch.
//
//   FrameBuffer buffer;
//   for (FrameFile::Position at; file.next(at, buffer, frame, damage);) use(frame.data);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reader/definitions.hpp"
#include "reader/file.hpp"

struct ZSTD_DCtx_s;

namespace plumbline::reader {

// Memory that reading needs, apart from the file: one per cursor, used again for every frame.
class FrameBuffer {
 public:
  FrameBuffer();
  FrameBuffer(FrameBuffer&&) noexcept = default;
  FrameBuffer& operator=(FrameBuffer&&) noexcept = default;
  ~FrameBuffer();

 private:
  friend class FrameFile;
  // What is held of the file from `offset` on: at least `least` bytes, fewer at its end.
  std::span<const std::uint8_t> window(const File& file, std::uint64_t offset, std::size_t least);
  std::uint8_t* output(std::size_t bytes);

  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::vector<std::uint8_t> window_;
  std::uint64_t window_offset_ = 0;
  std::size_t window_bytes_ = 0;
  std::unique_ptr<std::uint8_t[]> output_;  // left uninitialised: a frame may claim far more than it fills
  std::size_t output_bytes_ = 0;
};

struct Frame {
  std::uint64_t offset = 0;
  std::uint64_t compressed_bytes = 0;
  std::span<const std::uint8_t> data;  // in the buffer
  bool seek_table = false;             // the seek table at the end: no data
};

class FrameFile {
 public:
  // Frames that claim more are taken for damage. The writer's are at most a few MiB.
  static constexpr std::size_t kMaxCompressed = std::size_t{64} << 20;
  static constexpr std::size_t kMaxContent = std::size_t{256} << 20;

  explicit FrameFile(File file) : file_(std::move(file)) {}

  // Where a walk over the file stands.
  struct Position {
    std::uint64_t offset = 0;
    std::uint64_t wasted = 0;  // bytes looked at in vain, see kPatience in the source
  };

  // The next good frame at or after `at`; false at the end of the file. A stretch that had to be skipped on the way is
  // put into `damage`.
  bool next(Position& at, FrameBuffer& buffer, Frame& frame, std::optional<Damage>& damage) const;

  // The frame at a place where next() found one before.
  bool load(std::uint64_t offset, FrameBuffer& buffer, Frame& frame) const;

  const File& file() const { return file_; }

 private:
  enum class Try { kFrame, kDamaged, kCutOff };
  Try try_frame(std::uint64_t offset, FrameBuffer& buffer, Frame& frame, std::uint64_t& cost) const;
  Try try_skippable(std::uint64_t offset, FrameBuffer& buffer, Frame& frame) const;
  std::uint64_t find_magic(std::uint64_t offset, FrameBuffer& buffer) const;
  bool plausible_start(std::uint64_t offset, FrameBuffer& buffer) const;

  File file_;
};

}  // namespace plumbline::reader
