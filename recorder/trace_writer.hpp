// Appends zstd frames to a trace and keeps the index of what is in it.
//
// Each frame is independent and carries a checksum. A frame that cannot be written whole is taken back, so the file
// ends with a whole frame at all times but within append(). When the file would pass its size cap it is written anew
// without its oldest event frames; see evict() for what stays. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recorder/batches.hpp"
#include "recorder/run_directory.hpp"

struct ZSTD_CCtx_s;

namespace plumbline::recorder {

enum class FrameKind : std::uint8_t { kDefinitions, kEvents, kEvicted };

struct FrameEntry {
  std::uint32_t compressed = 0;
  std::uint32_t decompressed = 0;
  FrameKind kind = FrameKind::kEvents;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::array<std::uint32_t, 32> events{};  // by Kind
};

// What evictions have taken from the file since its start.
struct EvictedFrames {
  FrameSummary summary;
  std::uint64_t frames = 0;
  std::uint64_t compressed_bytes = 0;
};

class TraceWriter {
 public:
  TraceWriter(RunFiles& files, std::uint64_t max_bytes);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // A sentence when the disk does not take it; the file is then as it was before.
  std::optional<std::string> append(FrameKind kind, std::span<const std::uint8_t> messages,
                                    const FrameSummary& summary);

  // Writes the seek table. Nothing may be appended after it.
  std::optional<std::string> finish();

  std::uint64_t bytes() const noexcept { return offset_; }
  const EvictedFrames& evicted() const noexcept { return evicted_; }

 private:
  std::optional<std::string> compress(std::span<const std::uint8_t> messages);
  std::optional<std::string> write_compressed();
  std::optional<std::string> evict(std::uint64_t coming_bytes);
  std::vector<bool> choose_evicted(std::uint64_t coming_bytes) const;
  std::size_t end_of_head() const;
  std::optional<std::string> rewrite(const std::vector<bool>& leave_out);

  RunFiles& files_;
  std::uint64_t max_bytes_;
  std::uint64_t offset_ = 0;
  ZSTD_CCtx_s* context_;
  std::vector<std::uint8_t> compressed_;
  std::vector<FrameEntry> index_;
  EvictedFrames evicted_;
};

}  // namespace plumbline::recorder
