#include "reader/export/perfetto_writer.hpp"

#include <ostream>

namespace plumbline::reader {
namespace {

// Field numbers of Perfetto's schema, message by message.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace trace_packet {
constexpr std::uint32_t kClockSnapshot = 6;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequenceId = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace trace_packet
namespace clock_snapshot {
constexpr std::uint32_t kClocks = 1;
constexpr std::uint32_t kClockId = 1;
constexpr std::uint32_t kTimestamp = 2;
}  // namespace clock_snapshot
namespace track_descriptor {
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kThread = 4;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kCounter = 8;
}  // namespace track_descriptor
namespace process_descriptor {
constexpr std::uint32_t kPid = 1;
constexpr std::uint32_t kSortIndex = 3;
constexpr std::uint32_t kName = 6;
}  // namespace process_descriptor
namespace thread_descriptor {
constexpr std::uint32_t kPid = 1;
constexpr std::uint32_t kTid = 2;
constexpr std::uint32_t kName = 5;
}  // namespace thread_descriptor
namespace counter_descriptor {
constexpr std::uint32_t kUnit = 3;
}
namespace track_event {
constexpr std::uint32_t kCategory = 3;
constexpr std::uint32_t kAnnotation = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameNumber = 10;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kCounterValue = 30;
constexpr std::uint32_t kFlow = 47;
}  // namespace track_event
namespace annotation {
constexpr std::uint32_t kNameNumber = 1;
constexpr std::uint32_t kInt = 4;
constexpr std::uint32_t kDouble = 5;
constexpr std::uint32_t kText = 6;
}  // namespace annotation

constexpr std::uint64_t kSliceBegin = 1;
constexpr std::uint64_t kSliceEnd = 2;
constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kCounter = 4;

constexpr std::uint64_t kClockRealtime = 1;
constexpr std::uint64_t kClockBoottime = 6;  // the viewer's default clock

// All packets form one sequence: interned texts hold for its length.
constexpr std::uint64_t kSequence = 1;
constexpr std::uint64_t kStateCleared = 1;
constexpr std::uint64_t kNeedsState = 2;

}  // namespace

void PerfettoWriter::anchor(std::uint64_t time_ns, std::uint64_t wall_ns) {
  ProtoWriter snapshot;
  for (const auto& [clock, time] : {std::pair{kClockBoottime, time_ns}, std::pair{kClockRealtime, wall_ns}}) {
    entry_.clear();
    entry_.varint(clock_snapshot::kClockId, clock);
    entry_.varint(clock_snapshot::kTimestamp, time);
    snapshot.message(clock_snapshot::kClocks, entry_);
  }
  packet_.message(trace_packet::kClockSnapshot, snapshot);
  send();
}

PerfettoWriter::Track PerfettoWriter::process(std::int32_t pid, std::string_view name, std::int32_t order) {
  ProtoWriter body;
  body.varint(process_descriptor::kPid, static_cast<std::uint64_t>(pid));
  body.varint(process_descriptor::kSortIndex, static_cast<std::uint64_t>(order));
  body.text(process_descriptor::kName, name);
  return describe(0, {}, track_descriptor::kProcess, body);
}

PerfettoWriter::Track PerfettoWriter::thread(Track process, std::int32_t pid, std::int64_t tid, std::string_view name) {
  ProtoWriter body;
  body.varint(thread_descriptor::kPid, static_cast<std::uint64_t>(pid));
  body.varint(thread_descriptor::kTid, static_cast<std::uint64_t>(tid));
  body.text(thread_descriptor::kName, name);
  return describe(process, {}, track_descriptor::kThread, body);
}

PerfettoWriter::Track PerfettoWriter::track(Track parent, std::string_view name) {
  return describe(parent, name, 0, {});
}

PerfettoWriter::Track PerfettoWriter::counter(Track parent, std::string_view name, CounterUnit unit) {
  ProtoWriter body;
  body.varint(counter_descriptor::kUnit, static_cast<std::uint64_t>(unit));
  return describe(parent, name, track_descriptor::kCounter, body);
}

void PerfettoWriter::begin(Track track, std::uint64_t time_ns, std::string_view name, std::string_view category,
                           std::span<const Annotation> annotations, std::uint64_t flow) {
  event(track, time_ns, kSliceBegin, name, category, annotations, flow);
}

void PerfettoWriter::instant(Track track, std::uint64_t time_ns, std::string_view name, std::string_view category,
                             std::span<const Annotation> annotations) {
  event(track, time_ns, kInstant, name, category, annotations, 0);
}

void PerfettoWriter::end(Track track, std::uint64_t time_ns) {
  event_.clear();
  event_.varint(track_event::kType, kSliceEnd);
  event_.varint(track_event::kTrack, track);
  send_event(time_ns);
}

void PerfettoWriter::value(Track track, std::uint64_t time_ns, std::int64_t value) {
  event_.clear();
  event_.varint(track_event::kType, kCounter);
  event_.varint(track_event::kTrack, track);
  event_.varint(track_event::kCounterValue, static_cast<std::uint64_t>(value));
  send_event(time_ns);
}

std::uint64_t PerfettoWriter::intern(Interned& texts, std::string_view text) {
  const auto [at, added] = texts.numbers.try_emplace(std::string(text), texts.numbers.size() + 1);
  if (added) {
    entry_.clear();
    entry_.varint(1, at->second);  // iid and name have these numbers in every interned message
    entry_.text(2, text);
    interned_.message(texts.field, entry_);
  }
  return at->second;
}

void PerfettoWriter::event(Track track, std::uint64_t time_ns, std::uint64_t type, std::string_view name,
                           std::string_view category, std::span<const Annotation> annotations, std::uint64_t flow) {
  event_.clear();
  event_.varint(track_event::kType, type);
  event_.varint(track_event::kTrack, track);
  event_.varint(track_event::kCategory, intern(categories_, category));
  event_.varint(track_event::kNameNumber, intern(names_, name));
  if (flow != 0) event_.fixed64(track_event::kFlow, flow);
  for (const Annotation& annotation : annotations) {
    const std::uint64_t key = intern(keys_, annotation.name);
    entry_.clear();
    entry_.varint(annotation::kNameNumber, key);
    if (const auto* integer = std::get_if<std::int64_t>(&annotation.value)) {
      entry_.varint(annotation::kInt, static_cast<std::uint64_t>(*integer));
    } else if (const auto* real = std::get_if<double>(&annotation.value)) {
      entry_.number(annotation::kDouble, *real);
    } else {
      entry_.text(annotation::kText, std::get<std::string_view>(annotation.value));
    }
    event_.message(track_event::kAnnotation, entry_);
  }
  send_event(time_ns);
}

void PerfettoWriter::send_event(std::uint64_t time_ns) {
  packet_.varint(trace_packet::kTimestamp, time_ns);
  if (!interned_.empty()) packet_.message(trace_packet::kInternedData, interned_);
  interned_.clear();
  packet_.message(trace_packet::kTrackEvent, event_);
  send();
}

PerfettoWriter::Track PerfettoWriter::describe(Track parent, std::string_view name, std::uint32_t body_field,
                                               const ProtoWriter& body) {
  const Track track = ++last_track_;
  ProtoWriter descriptor;
  descriptor.varint(track_descriptor::kUuid, track);
  if (parent != 0) descriptor.varint(track_descriptor::kParent, parent);
  if (!name.empty()) descriptor.text(track_descriptor::kName, name);
  if (body_field != 0) descriptor.message(body_field, body);
  packet_.message(trace_packet::kTrackDescriptor, descriptor);
  send();
  return track;
}

void PerfettoWriter::send() {
  packet_.varint(trace_packet::kSequenceId, kSequence);
  packet_.varint(trace_packet::kSequenceFlags, first_ ? kStateCleared : kNeedsState);
  first_ = false;
  framed_.clear();
  framed_.message(trace::kPacket, packet_);
  packet_.clear();
  out_.write(framed_.bytes().data(), static_cast<std::streamsize>(framed_.bytes().size()));
}

}  // namespace plumbline::reader
