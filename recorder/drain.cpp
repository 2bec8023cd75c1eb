#include "recorder/drain.hpp"

#include <algorithm>
#include <cstring>

#include "recorder/clock.hpp"
#include "recorder/progress.hpp"

namespace plumbline::recorder {
namespace {

// A frame covers at most about this many slots (8 MiB), which bounds the memory of the writer.
constexpr std::uint64_t kFrameSlots = 256 << 10;
constexpr std::uint64_t kLeastShare = 1024;

}  // namespace

std::optional<std::string> Drain::pass() {
  std::vector<std::uint64_t> heads(cursors_.size());
  for (std::uint32_t i = 0; i < heads.size(); ++i) heads[i] = rings_.ring(i).head.load(std::memory_order_acquire);
  for (bool more = true; more;) {
    if (auto error = part(heads, more)) return error;
  }
  return std::nullopt;
}

std::optional<std::string> Drain::part(const std::vector<std::uint64_t>& heads, bool& more) {
  const auto waiting = std::count_if(heads.begin(), heads.end(), [&, i = 0u](std::uint64_t head) mutable {
    return head != rings_.ring(i++).tail.load(std::memory_order_relaxed);
  });
  const std::uint64_t share = std::max(kLeastShare, kFrameSlots / static_cast<std::uint64_t>(waiting + 1));
  more = false;
  for (std::uint32_t i = 0; i < heads.size(); ++i) {
    cursors_[i].events = rings_.ring(i).tail.load(std::memory_order_relaxed);
    if (cursors_[i].events != heads[i]) more = take(i, heads[i], share) || more;
  }
  for (std::uint32_t i = 0; i < heads.size(); ++i) {
    take_definitions(i, rings_.ring(i).head.load(std::memory_order_acquire));
  }
  if (auto error = write_frames()) return error;
  for (std::uint32_t i = 0; i < heads.size(); ++i) {
    RingHeader& ring = rings_.ring(i);
    ring.tail.store(cursors_[i].events, std::memory_order_release);
    RingMap::reclaim(ring);
  }
  return std::nullopt;
}

// True when the ring has more than its share for this frame.
bool Drain::take(std::uint32_t index, std::uint64_t event_end, std::uint64_t share) {
  Cursor& cursor = cursors_[index];
  announce_thread(index);
  batches_.begin_ring(index);
  const std::uint64_t start = cursor.events;
  RingReader reader(rings_.ring(index), start, event_end);
  while (reader.position() - start < share) {
    const RecordHeader* record = reader.next();
    if (record == nullptr) break;
    batches_.add(*record);
    training_thread_.note(index, *record);
  }
  cursor.events = reader.position();
  if (!reader.damaged()) return cursor.events != event_end;
  cursor.events = event_end;
  damaged_ = true;
  return false;
}

void Drain::take_definitions(std::uint32_t index, std::uint64_t end) {
  Cursor& cursor = cursors_[index];
  RingReader reader(rings_.ring(index), cursor.definitions, end);
  while (const RecordHeader* record = reader.next()) {
    if (is_definition(record->kind)) definitions_.add(*record);
  }
  cursor.definitions = end;
}

void Drain::announce_thread(std::uint32_t index) {
  const RingHeader& ring = rings_.ring(index);
  if (cursors_[index].generation == ring.generation) return;
  cursors_[index].generation = ring.generation;
  definitions_.add_thread(index, ring.generation, ring.tid,
                          {ring.thread_name, strnlen(ring.thread_name, sizeof(ring.thread_name))});
}

std::optional<std::string> Drain::write_frames() {
  if (!definitions_.empty()) {
    buffer_.clear();
    definitions_.append_to(buffer_);
    if (auto error = trace_.append(FrameKind::kDefinitions, buffer_, {})) return error;
  }
  buffer_.clear();
  if (batches_.empty()) {
    // Drops that were counted after the last event frame are told too, in a frame that is never evicted.
    if (dropped() == told_dropped_) return std::nullopt;
    append_progress();
    return trace_.append(FrameKind::kDefinitions, buffer_, {});
  }
  const FrameSummary summary = batches_.append_to(buffer_);
  append_progress();
  return trace_.append(FrameKind::kEvents, buffer_, summary);
}

void Drain::append_progress() {
  std::vector<RingProgress> rings;
  for (std::uint32_t i = 0; i < cursors_.size(); ++i) {
    if (cursors_[i].generation != 0) rings.push_back({i, cursors_[i].generation, cursors_[i].events});
  }
  told_dropped_ = dropped();
  append_progress_message(builder_, monotonic_ns(), rings, told_dropped_, buffer_);
}

EventCounts Drain::dropped() const noexcept {
  EventCounts counts{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    counts[k] = rings_.header().dropped[k].load(std::memory_order_relaxed);
  }
  return counts;
}

double Drain::fullest(std::uint64_t slots) const noexcept {
  double fullest = 0;
  double closing = 0;
  for (std::uint32_t i = 0; i < cursors_.size(); ++i) {
    const RingHeader& ring = rings_.ring(i);
    const auto used = ring.head.load(std::memory_order_relaxed) - ring.tail.load(std::memory_order_relaxed);
    fullest = std::max(fullest, static_cast<double>(used) / static_cast<double>(std::min(ring.capacity, slots)));
    closing += ring.state.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(RingState::kClosing);
  }
  return std::max(fullest, closing / static_cast<double>(cursors_.size()));
}

}  // namespace plumbline::recorder
