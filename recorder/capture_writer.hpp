// Writes a file of captures: like a trace, zstd frames of messages, a Process first. See docs/trace-format.md.
//
// Captures gather until about a mebibyte of them makes a frame. The first error ends the writing for good: the file
// then holds the frames before it. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorder/capture.hpp"
#include "recorder/definitions.hpp"
#include "recorder/file_io.hpp"

struct ZSTD_CCtx_s;

namespace plumbline::recorder {

class CaptureWriter {
 public:
  // Of a tensor that is larger, several messages take a part each.
  static constexpr std::size_t kPartBytes = std::size_t{1} << 18;

  CaptureWriter();
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // Makes the file, under another name where this one is taken. All of these give a sentence when they fail.
  std::optional<std::string> create(const std::string& path, const Identity& identity, const ProcessStart& start,
                                    Level level);
  std::optional<std::string> add(const Capture& capture);
  std::optional<std::string> flush();
  // Flushes and writes the seek table. Nothing may be added after it.
  std::optional<std::string> finish();
  // For a forked child: the file is its parent's.
  void abandon() noexcept { failed_ = true; }

  std::uint64_t bytes() const noexcept { return offset_; }
  const std::string& path() const noexcept { return path_; }

 private:
  struct Entry {
    std::uint32_t compressed;
    std::uint32_t decompressed;
  };
  void add_part(const Capture& capture, std::uint64_t first, const std::uint8_t* data, std::size_t bytes);
  void end_message();
  std::optional<std::string> write(const std::vector<std::uint8_t>& bytes);
  std::optional<std::string> fail(std::string sentence);

  ZSTD_CCtx_s* context_;
  std::string path_;
  OwnFile file_;
  std::uint64_t offset_ = 0;
  bool failed_ = false;
  MessageBuilder builder_;
  std::vector<flatbuffers::Offset<trace::Capture>> waiting_;  // in the message under construction
  MessageBuffer messages_;
  std::vector<std::uint8_t> compressed_;
  std::vector<Entry> index_;
};

}  // namespace plumbline::recorder
