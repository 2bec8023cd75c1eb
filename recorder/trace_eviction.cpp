// The size cap of a trace: TraceWriter::evict() and its parts.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/file_io.hpp"
#include "recorder/trace_writer.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::uint64_t kHeadFraction = 10;  // the job's start keeps a tenth of the cap
constexpr std::uint64_t kTailFraction = 2;   // the newest frames keep half: so a rewrite is rare
constexpr std::size_t kCopyBytes = 1 << 20;

// The trace anew, beside the old one until it is whole.
struct Shorter {
  std::string path;
  OwnFile file;
  std::uint64_t bytes = 0;

  // 0, or errno.
  int append(std::span<const std::uint8_t> data) {
    const int fd = file.fd(path);
    if (fd < 0) return errno;
    const int error = write_at(fd, data, bytes);
    if (error == 0) bytes += data.size();
    return error;
  }
};

// Appends a range of the trace. 0, or errno.
int copy_range(RunFiles& files, std::uint64_t offset, std::uint64_t bytes, Shorter& to,
               std::vector<std::uint8_t>& buffer) {
  while (bytes > 0) {
    buffer.resize(std::min<std::uint64_t>(bytes, kCopyBytes));
    const int from = files.trace_fd();
    if (from < 0) return errno;
    if (const int error = read_at(from, buffer, offset); error != 0) return error;
    if (const int error = to.append(buffer); error != 0) return error;
    offset += buffer.size();
    bytes -= buffer.size();
  }
  return 0;
}

void append_evicted_message(MessageBuilder& builder, const EvictedFrames& evicted, MessageBuffer& out) {
  auto& fbb = builder.fbb();
  const auto events = fbb.CreateVector(evicted.summary.events.data(), evicted.summary.events.size());
  builder.finish(trace::CreateEvicted(fbb, evicted.summary.first_ns, evicted.summary.last_ns, evicted.frames,
                                      evicted.compressed_bytes, events),
                 out);
}

}  // namespace

// Takes out the oldest event frames after the job's start, so that head, definitions, the newest frames and what is
// coming fit. An Evicted message stands in their place; that of an earlier eviction is merged into it.
std::optional<std::string> TraceWriter::evict(std::uint64_t coming_bytes) {
  const std::vector<bool> leave_out = choose_evicted(coming_bytes);
  for (std::size_t i = 0; i < index_.size(); ++i) {
    if (!leave_out[i] || index_[i].kind != FrameKind::kEvents) continue;
    FrameSummary summary{index_[i].first_ns, index_[i].last_ns, {}};
    for (std::size_t k = 0; k < summary.events.size(); ++k) summary.events[k] = index_[i].events[k];
    evicted_.summary.merge(summary);
    evicted_.compressed_bytes += index_[i].compressed;
    ++evicted_.frames;
  }
  // What must stay fills the cap alone: the file grows over it.
  if (std::find(leave_out.begin(), leave_out.end(), true) == leave_out.end()) return std::nullopt;
  return rewrite(leave_out);
}

std::vector<bool> TraceWriter::choose_evicted(std::uint64_t coming_bytes) const {
  const std::size_t head_end = end_of_head();
  std::uint64_t kept = coming_bytes;
  for (std::size_t i = 0; i < index_.size(); ++i) {
    if (i < head_end || index_[i].kind == FrameKind::kDefinitions) kept += index_[i].compressed;
  }
  const std::uint64_t room = kept < max_bytes_ ? std::min(max_bytes_ - kept, max_bytes_ / kTailFraction) : 0;

  std::vector<bool> leave_out(index_.size(), false);
  std::uint64_t tail = 0;
  bool newest = true;  // stays, though it were larger than the cap
  bool any = false;
  for (std::size_t i = index_.size(); i-- > head_end;) {
    if (index_[i].kind != FrameKind::kEvents) continue;
    tail += index_[i].compressed;
    if (!newest && tail > room) leave_out[i] = any = true;
    newest = false;
  }
  for (std::size_t i = 0; i < index_.size(); ++i) {
    if (index_[i].kind == FrameKind::kEvicted) leave_out[i] = any;
  }
  return leave_out;
}

// Frames before it are the job's start.
std::size_t TraceWriter::end_of_head() const {
  std::uint64_t offset = 0;
  std::size_t end = 0;
  while (end < index_.size() && index_[end].kind != FrameKind::kEvicted) {
    offset += index_[end].compressed;
    if (offset > max_bytes_ / kHeadFraction) break;
    ++end;
  }
  return end;
}

std::optional<std::string> TraceWriter::rewrite(const std::vector<bool>& leave_out) {
  Shorter shorter{files_.directory() + "/." + files_.trace_name() + ".shorter", {}, 0};
  // One that is there was left by a process that was killed while it wrote it, and whose trace is gone since: the name
  // of a trace is taken once.
  unlink(shorter.path.c_str());
  shorter.file.adopt(open(shorter.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (shorter.file.fd(shorter.path) < 0) {
    return "cannot shorten the trace, " + shorter.path + ": " + std::strerror(errno);
  }
  MessageBuilder builder;
  MessageBuffer message;
  append_evicted_message(builder, evicted_, message);
  std::optional<std::string> failure = compress(message);
  int error = 0;
  std::vector<FrameEntry> index;
  std::vector<std::uint8_t> buffer;
  std::uint64_t from = 0;
  bool noted = false;
  for (std::size_t i = 0; i < index_.size() && !failure && error == 0; ++i) {
    if (leave_out[i] && !noted) {
      noted = true;
      error = shorter.append(compressed_);
      index.push_back({static_cast<std::uint32_t>(compressed_.size()),
                       static_cast<std::uint32_t>(message.size()),
                       FrameKind::kEvicted,
                       evicted_.summary.first_ns,
                       evicted_.summary.last_ns,
                       {}});
    }
    if (!leave_out[i] && error == 0) {
      error = copy_range(files_, from, index_[i].compressed, shorter, buffer);
      index.push_back(index_[i]);
    }
    from += index_[i].compressed;
  }
  if (error == 0 && !failure && !files_.replace_trace(shorter.path, shorter.file)) error = errno;
  if (error != 0) failure = "cannot shorten the trace, " + shorter.path + ": " + std::strerror(error);
  if (failure) {
    shorter.file.close();
    unlink(shorter.path.c_str());
    return failure;
  }
  index_ = std::move(index);
  offset_ = shorter.bytes;
  return std::nullopt;
}

}  // namespace plumbline::recorder
