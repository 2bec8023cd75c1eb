#include "reader/ring_snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plumbline::reader {
namespace {

using recorder::InFlight;
using recorder::kRingFileHeaderBytes;
using recorder::kRingHeaderBytes;
using recorder::kSlotBytes;
using recorder::RingFileHeader;
using recorder::RingHeader;

constexpr std::uint32_t kMaxRings = 1 << 16;
// What is copied of all rings together. A writer that is this far behind has long counted drops; a sparse file may
// claim any size.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
// A record is at most this long; the producer may be in the middle of writing one beyond `head`.
constexpr std::uint64_t kMaxRecordSlots = 256;

template <class T>
T field(const unsigned char* header, std::size_t offset) {
  T value;
  std::memcpy(&value, header + offset, sizeof value);
  return value;
}

std::string text_field(const unsigned char* header, std::size_t offset, std::size_t capacity) {
  const char* text = reinterpret_cast<const char*>(header) + offset;
  return {text, strnlen(text, capacity)};
}

std::uint64_t header_offset(std::uint32_t number) {
  return kRingFileHeaderBytes + std::uint64_t{number} * kRingHeaderBytes;
}

}  // namespace

bool RingSnapshot::has_magic(const File& file) {
  std::uint64_t magic = 0;
  return file.read_at(0, &magic, sizeof magic) == sizeof magic && magic == recorder::kRingMagic;
}

Result<RingSnapshot> RingSnapshot::open(const std::string& path) {
  Result<File> file = File::open(path);
  if (!file.ok()) return file.status();
  RingSnapshot snapshot(std::move(*file));
  const Status status = snapshot.read();
  if (!status.ok()) return status;
  return snapshot;
}

Result<RingOwner> RingSnapshot::owner_of(const File& file) {
  unsigned char header[sizeof(RingFileHeader)];
  if (!has_magic(file)) return Status(Code::kForeign, file.path() + " is not a ring file.");
  if (file.read_at(0, header, sizeof header) != sizeof header)
    return Status(Code::kDamaged, file.path() + " is cut off within its header.");
  const auto version = field<std::uint32_t>(header, offsetof(RingFileHeader, version));
  if (version != recorder::kRingVersion)
    return Status(Code::kForeign,
                  file.path() + " is a ring file of version " + std::to_string(version) + ", which is not known.");
  RingOwner owner;
  owner.pid = field<std::uint32_t>(header, offsetof(RingFileHeader, pid));
  owner.rank = field<std::int32_t>(header, offsetof(RingFileHeader, rank));
  owner.attempt = field<std::int32_t>(header, offsetof(RingFileHeader, attempt));
  owner.start_monotonic_ns = field<std::uint64_t>(header, offsetof(RingFileHeader, start_monotonic_ns));
  owner.start_realtime_ns = field<std::uint64_t>(header, offsetof(RingFileHeader, start_realtime_ns));
  owner.boot_id = text_field(header, offsetof(RingFileHeader, boot_id), sizeof(RingFileHeader::boot_id));
  owner.trace_name = text_field(header, offsetof(RingFileHeader, trace_name), sizeof(RingFileHeader::trace_name));
  return owner;
}

Status RingSnapshot::read() {
  Result<RingOwner> owner = owner_of(file_);
  if (!owner.ok()) return owner.status();
  owner_ = std::move(*owner);
  unsigned char header[sizeof(RingFileHeader)];
  if (file_.read_at(0, header, sizeof header) != sizeof header)
    return {Code::kDamaged, path() + " became shorter while it was read."};
  clean_end_ = field<std::uint64_t>(header, offsetof(RingFileHeader, clean_end)) != 0;
  const auto exit_ns = field<std::uint64_t>(header, offsetof(RingFileHeader, exit_ns));
  const auto exit_status = field<std::int32_t>(header, offsetof(RingFileHeader, exit_status));
  if (const auto stopped_ns = field<std::uint64_t>(header, offsetof(RingFileHeader, stopped_ns)); stopped_ns != 0) {
    stop_ = RecordingStop{
        stopped_ns, text_field(header, offsetof(RingFileHeader, stop_reason), sizeof(RingFileHeader::stop_reason)),
        exit_ns, exit_status};
  } else if (exit_ns != 0) {
    exit_ = ExitInfo{exit_ns, exit_status, 0, {}, {}};
  }
  std::memcpy(dropped_.data(), header + offsetof(RingFileHeader, dropped), sizeof dropped_);
  std::memcpy(hook_fired_.data(), header + offsetof(RingFileHeader, hook_fired), sizeof hook_fired_);

  const auto rings = field<std::uint32_t>(header, offsetof(RingFileHeader, ring_count));
  for (std::uint32_t number = 0; number < std::min(rings, kMaxRings); ++number)
    if (!read_ring(number)) ++damaged_rings_;
  return {};
}

bool RingSnapshot::read_ring(std::uint32_t number) {
  unsigned char header[kRingHeaderBytes];
  if (file_.read_at(header_offset(number), header, sizeof header) != sizeof header) return false;
  Ring ring;
  ring.number = number;
  ring.capacity = field<std::uint64_t>(header, offsetof(RingHeader, capacity));
  ring.chunk = field<std::uint64_t>(header, offsetof(RingHeader, chunk));
  ring.generation = field<std::uint64_t>(header, offsetof(RingHeader, generation));
  if (ring.capacity == 0 || ring.generation == 0) return true;  // never had an owner
  ring.tid = field<std::uint32_t>(header, offsetof(RingHeader, tid));
  ring.data_offset = field<std::uint64_t>(header, offsetof(RingHeader, data_offset));
  ring.thread_name = text_field(header, offsetof(RingHeader, thread_name), sizeof(RingHeader::thread_name));
  ring.head = field<std::uint64_t>(header, offsetof(RingHeader, head));
  const auto tail = field<std::uint64_t>(header, offsetof(RingHeader, tail));
  const bool sane = std::has_single_bit(ring.capacity) && std::has_single_bit(ring.chunk) &&
                    ring.chunk <= ring.capacity && ring.capacity / ring.chunk <= recorder::kMostChunks &&
                    ring.data_offset <= file_.size() &&
                    ring.capacity <= (file_.size() - ring.data_offset) / kSlotBytes && tail <= ring.head &&
                    ring.head - tail <= ring.capacity && (ring.head - tail) * kSlotBytes <= kMostBytes - copied_bytes_;
  if (!sane) return false;
  copied_bytes_ += (ring.head - tail) * kSlotBytes;
  // Only now: a chunk is given its place before its slots are published.
  if (!copy_slots(ring, places_of(ring), tail, ring.head, ring.slots)) return false;
  read_in_flight(ring, header);
  if (ring.data_offset >= sizeof(recorder::HookCounters)) {
    std::array<std::uint64_t, 64> fired{};
    if (file_.read_at(ring.data_offset - sizeof fired, fired.data(), sizeof fired) == sizeof fired)
      for (std::size_t i = 0; i < fired.size(); ++i) hook_fired_[i] += fired[i];
  }

  // Slots before the tail as it is now may have been written over while they were copied.
  ring.first = std::clamp(load64(header_offset(number) + offsetof(RingHeader, tail)), tail, ring.head);
  ring.slots.erase(ring.slots.begin(),
                   ring.slots.begin() + static_cast<std::ptrdiff_t>((ring.first - tail) * kSlotBytes));
  rings_.push_back(std::move(ring));
  return true;
}

void RingSnapshot::read_in_flight(const Ring& ring, const unsigned char* header) {
  const std::size_t places[] = {offsetof(RingHeader, in_flight), offsetof(RingHeader, calls),
                                offsetof(RingHeader, calls) + sizeof(InFlight)};
  for (const std::size_t at : places) {
    InFlightCall call;
    const auto what = field<std::uint32_t>(header, at + offsetof(InFlight, what));
    if (what == 0 || what >= recorder::kKindCount) continue;
    call.ring = ring.number;
    call.tid = ring.tid;
    call.what = static_cast<Kind>(what);
    call.tag = field<std::uint32_t>(header, at + offsetof(InFlight, tag));
    call.time_ns = field<std::uint64_t>(header, at + offsetof(InFlight, time_ns));
    call.id_or_size = field<std::uint64_t>(header, at + offsetof(InFlight, id_or_size));
    in_flight_.push_back(call);
  }
}

RingSnapshot::Places RingSnapshot::places_of(const Ring& ring) const {
  Places places{};
  file_.read_at(header_offset(ring.number) + offsetof(RingHeader, places), places.data(), places.size());
  return places;
}

bool RingSnapshot::copy_slots(const Ring& ring, const Places& places, std::uint64_t from, std::uint64_t to,
                              std::vector<std::byte>& slots) const {
  slots.resize(static_cast<std::size_t>(to - from) * kSlotBytes);
  std::byte* at = slots.data();
  while (from < to) {
    const std::uint8_t place = places[from / ring.chunk % places.size()];
    const std::uint64_t index = recorder::slot_index(from, ring.chunk, place);
    const std::uint64_t run = std::min(to - from, ring.chunk - from % ring.chunk);
    if (index >= ring.capacity) return false;
    const std::size_t bytes = static_cast<std::size_t>(run) * kSlotBytes;
    if (file_.read_at(ring.data_offset + index * kSlotBytes, at, bytes) != bytes) return false;
    at += bytes;
    from += run;
  }
  return true;
}

std::uint64_t RingSnapshot::load64(std::uint64_t offset) const {
  std::uint64_t value = 0;
  file_.read_at(offset, &value, sizeof value);
  return value;
}

// Whether the slots from `from` on, which were given back before, have not been used again.
bool RingSnapshot::are_intact(const Ring& ring, std::uint64_t from) const {
  const std::uint64_t end = load64(header_offset(ring.number) + offsetof(RingHeader, head)) + kMaxRecordSlots;
  if (end > from + ring.capacity) return false;
  const Places places = places_of(ring);
  const auto place = [&](std::uint64_t number) { return places[number % places.size()]; };
  const std::uint64_t last = (end - 1) / ring.chunk;
  for (std::uint64_t old = from / ring.chunk; old <= ring.first / ring.chunk; ++old)
    for (std::uint64_t newer = old + 1; newer <= last; ++newer)
      if (ring.chunk != ring.capacity && place(newer) == place(old)) return false;
  return true;
}

void RingSnapshot::recover(const std::map<std::uint32_t, RingProgress>& progress) {
  for (Ring& ring : rings_) {
    const auto it = progress.find(ring.number);
    if (it == progress.end() || it->second.generation != ring.generation || it->second.head >= ring.first) continue;
    const std::uint64_t from = it->second.head;
    if (ring.first - from > std::min(ring.capacity, kMostBytes / kSlotBytes)) continue;  // written over long ago
    std::vector<std::byte> older;
    if (!copy_slots(ring, places_of(ring), from, ring.first, older) || !are_intact(ring, from)) continue;
    older.insert(older.end(), ring.slots.begin(), ring.slots.end());
    ring.slots = std::move(older);
    ring.first = from;
  }
}

}  // namespace plumbline::reader
