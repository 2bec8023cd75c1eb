#include "recorder/capture_writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/dtype_size.hpp"
#include "recorder/seek_table.hpp"

namespace plumbline::recorder {
namespace {

// Captured numbers hardly compress, and the training thread waits for it: the fast end, which still folds up zeros.
constexpr int kCompressionLevel = -5;
constexpr std::size_t kFrameBytes = std::size_t{1} << 20;
constexpr int kMostNames = 100;

flatbuffers::Offset<flatbuffers::String> text(flatbuffers::FlatBufferBuilder& fbb, const char* value) {
  return value != nullptr && *value != '\0' ? fbb.CreateString(value) : 0;
}

template <class T>
flatbuffers::Offset<flatbuffers::Vector<T>> numbers(flatbuffers::FlatBufferBuilder& fbb, const T* values,
                                                    std::size_t count) {
  return values != nullptr && count > 0 ? fbb.CreateVector(values, count) : 0;
}

}  // namespace

CaptureWriter::CaptureWriter() : context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

CaptureWriter::~CaptureWriter() {
  ZSTD_freeCCtx(context_);
  file_.close();
}

std::optional<std::string> CaptureWriter::fail(std::string sentence) {
  failed_ = true;
  return sentence;
}

std::optional<std::string> CaptureWriter::create(const std::string& path, const Identity& identity,
                                                 const ProcessStart& start, Level level) {
  if (context_ == nullptr) return fail("no memory to compress captures");
  int fd = -1;
  for (int i = 0; i < kMostNames && fd < 0; ++i) {
    path_ = i == 0 ? path : path + "." + std::to_string(i);
    fd = open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) return fail("cannot create " + path_ + ": " + std::strerror(errno));
  file_.adopt(fd);
  Definitions definitions;
  definitions.add_process(identity, start, "", level);
  definitions.append_to(messages_);
  return flush();
}

std::optional<std::string> CaptureWriter::add(const Capture& capture) {
  if (failed_) return "captures have ended before";
  if (capture.data_bytes <= kPartBytes) {
    add_part(capture, 0, capture.data, capture.data_bytes);
  } else {
    const std::size_t element = std::max<std::size_t>(1, size_of(capture.dtype));
    for (std::size_t done = 0; done < capture.data_bytes; done += kPartBytes) {
      add_part(capture, done / element, capture.data + done, std::min(kPartBytes, capture.data_bytes - done));
      if (auto error = flush()) return error;
    }
  }
  return builder_.fbb().GetSize() >= kFrameBytes ? flush() : std::nullopt;
}

void CaptureWriter::add_part(const Capture& c, std::uint64_t first, const std::uint8_t* data, std::size_t bytes) {
  auto& fbb = builder_.fbb();
  const auto probe = text(fbb, c.probe);
  const auto name = text(fbb, c.name);
  const auto placement = text(fbb, c.placement);
  const auto device = text(fbb, c.device);
  const auto detail = text(fbb, c.detail);
  const auto shape = numbers(fbb, c.shape, c.dimensions);
  const auto global_shape = numbers(fbb, c.global_shape, c.global_dimensions);
  const auto offset = numbers(fbb, c.offset, c.global_dimensions);
  const auto replicas = numbers(fbb, c.replicas, c.replica_count);
  const auto indices = numbers(fbb, c.indices, c.index_count);
  const auto blocks = numbers(fbb, c.blocks, c.block_count);
  if (bytes > 0) fbb.ForceVectorAlignment(bytes, 1, 8);
  const auto elements = numbers(fbb, data, bytes);
  trace::CaptureBuilder row(fbb);
  row.add_time_ns(c.time_ns);
  row.add_probe(probe);
  row.add_name(name);
  row.add_step(c.step);
  row.add_occurrence(c.occurrence);
  row.add_key(c.key);
  row.add_dtype(static_cast<std::uint8_t>(c.dtype));
  row.add_amount(static_cast<std::uint8_t>(c.amount));
  row.add_shape(shape);
  row.add_global_shape(global_shape);
  row.add_offset(offset);
  row.add_replicas(replicas);
  row.add_placement(placement);
  row.add_device(device);
  row.add_indices(indices);
  row.add_first(first);
  row.add_data(elements);
  if (c.statistics != nullptr) {
    row.add_has_statistics(true);
    row.add_elements(c.statistics->elements);
    row.add_sum(c.statistics->sum);
    row.add_norm(c.statistics->norm);
    row.add_absmax(c.statistics->absmax);
    row.add_nans(c.statistics->nans);
    row.add_infs(c.statistics->infs);
    row.add_zeros(c.statistics->zeros);
  }
  row.add_hash_kind(static_cast<std::uint8_t>(c.hash_kind));
  row.add_hash(c.hash);
  row.add_detail(detail);
  row.add_blocks(blocks);
  waiting_.push_back(row.Finish());
}

void CaptureWriter::end_message() {
  if (waiting_.empty()) return;
  builder_.finish(trace::CreateCapturesDirect(builder_.fbb(), &waiting_), messages_);
  waiting_.clear();
}

std::optional<std::string> CaptureWriter::flush() {
  if (failed_) return "captures have ended before";
  end_message();
  if (messages_.empty()) return std::nullopt;
  compressed_.resize(ZSTD_compressBound(messages_.size()));
  const std::size_t size =
      ZSTD_compress2(context_, compressed_.data(), compressed_.size(), messages_.data(), messages_.size());
  if (ZSTD_isError(size)) return fail(std::string("cannot compress captures: ") + ZSTD_getErrorName(size));
  compressed_.resize(size);
  if (auto error = write(compressed_)) return error;
  index_.push_back({static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(messages_.size())});
  messages_.clear();
  return std::nullopt;
}

std::optional<std::string> CaptureWriter::finish() {
  if (auto error = flush()) return error;
  auto error = write(seek_table(index_));
  failed_ = true;
  return error;
}

std::optional<std::string> CaptureWriter::write(const std::vector<std::uint8_t>& bytes) {
  const int fd = file_.fd(path_);
  if (fd < 0) return fail(path_ + " is no longer there; captures end here");
  if (const int error = write_at(fd, bytes, offset_); error != 0) {
    // A part of a frame at the end is legal, but a whole file is better.
    if (ftruncate(fd, static_cast<off_t>(offset_)) != 0) errno = error;
    return fail("cannot write to " + path_ + ": " + std::strerror(error));
  }
  offset_ += bytes.size();
  return std::nullopt;
}

}  // namespace plumbline::recorder
