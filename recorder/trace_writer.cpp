#include "recorder/trace_writer.hpp"

#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

#include "recorder/file_io.hpp"
#include "recorder/seek_table.hpp"

namespace plumbline::recorder {
namespace {

constexpr int kCompressionLevel = 3;

}  // namespace

TraceWriter::TraceWriter(RunFiles& files, std::uint64_t max_bytes)
    : files_(files), max_bytes_(max_bytes), context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

TraceWriter::~TraceWriter() { ZSTD_freeCCtx(context_); }

std::optional<std::string> TraceWriter::append(FrameKind kind, std::span<const std::uint8_t> messages,
                                               const FrameSummary& summary) {
  if (auto error = compress(messages)) return error;
  if (offset_ + compressed_.size() > max_bytes_) {
    if (auto error = evict(compressed_.size())) return error;
    if (auto error = compress(messages)) return error;  // the Evicted message went through the same buffer
  }
  FrameEntry entry{static_cast<std::uint32_t>(compressed_.size()),
                   static_cast<std::uint32_t>(messages.size()),
                   kind,
                   summary.first_ns,
                   summary.last_ns,
                   {}};
  for (std::size_t i = 0; i < entry.events.size(); ++i) {
    entry.events[i] = static_cast<std::uint32_t>(summary.events[i]);
  }
  if (auto error = write_compressed()) return error;
  index_.push_back(entry);
  return std::nullopt;
}

std::optional<std::string> TraceWriter::finish() {
  compressed_ = seek_table(index_);
  return write_compressed();
}

std::optional<std::string> TraceWriter::compress(std::span<const std::uint8_t> messages) {
  if (context_ == nullptr) return "no memory to compress the trace";
  compressed_.resize(ZSTD_compressBound(messages.size()));
  const std::size_t size =
      ZSTD_compress2(context_, compressed_.data(), compressed_.size(), messages.data(), messages.size());
  if (ZSTD_isError(size)) return std::string("cannot compress the trace: ") + ZSTD_getErrorName(size);
  compressed_.resize(size);
  return std::nullopt;
}

std::optional<std::string> TraceWriter::write_compressed() {
  int error = EBADF;
  // Once more when the job has closed the descriptor right under the write.
  for (int attempt = 0; attempt < 2 && error == EBADF; ++attempt) {
    const int fd = files_.trace_fd();
    error = fd < 0 ? errno : write_at(fd, compressed_, offset_);
  }
  if (error != 0) {
    // A part of a frame at the end is legal, but a whole file is better.
    if (ftruncate(files_.trace_fd(), static_cast<off_t>(offset_)) != 0) errno = error;
    return "cannot write to " + files_.trace_path() + ": " + std::strerror(error);
  }
  offset_ += compressed_.size();
  return std::nullopt;
}

}  // namespace plumbline::recorder
