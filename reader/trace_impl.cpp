#include "reader/trace_impl.hpp"

#include <algorithm>

#include "reader/definition_reader.hpp"
#include "reader/names.hpp"
#include "recorder/trace_generated.h"

namespace plumbline::reader {

bool TraceImpl::scan_frame(Reading& reading, const Query& query) {
  reading.decoded.clear();
  if (scanned) return false;
  Frame frame;
  std::optional<Damage> skipped;
  const bool found = joined.empty() && file && file->next(position, reading.buffer, frame, skipped);
  if (skipped) {
    damage.push_back(*skipped);
    ends_with_seek_table = false;
  }
  if (!found) {
    finish();
    return false;
  }
  if (clean_end()) {
    leave_out_from(frame.offset, "goes on after its end");
  } else {
    ++frames;
    ends_with_seek_table = frame.seek_table;
    take_messages(frame, reading, query);
  }
  return true;
}

void TraceImpl::scan() {
  if (scanned) return;
  Reading reading;
  const Query nothing{.kinds = 0};
  while (scan_frame(reading, nothing)) {
  }
}

void TraceImpl::take_messages(const Frame& frame, Reading& reading, const Query& query) {
  MessageWalk walk(frame.data, messages);
  while (const trace::Message* message = walk.next()) {
    const trace::Process* process = message->body_as_Process();
    if (process != nullptr && begins_another(*process))
      return leave_out_from(frame.offset,
                            "goes on with the trace of another process (" + std::to_string(process->pid()) + ")");
    process_messages += process != nullptr;
    if (const trace::Comms* comms = message->body_as_Comms()) comm_groups.add(*comms, walk.bytes());
    if (const trace::Progress* p = message->body_as_Progress()) {
      take(*p, reading);
    } else if (const trace::Evicted* e = message->body_as_Evicted()) {
      take(*e);
    } else if (!absorb_definition(*message, definitions)) {
      const Place place{frame.offset, walk.index(), false};
      if (reading.decoded.add(*message, walk.bytes(), query, true, place) == DecodedFrame::Taken::kMalformed)
        ++malformed_batches;
    }
  }
  rows += reading.decoded.rows();
  span.add(reading.decoded.span());
  if (reading.decoded.kinds() != 0) index.push_back({frame.offset, reading.decoded.kinds(), reading.decoded.span()});
}

// Files that were joined to one (cat). A process says who it is at the start, and once more when it turns out to train.
bool TraceImpl::begins_another(const trace::Process& process) const {
  constexpr std::uint64_t kMost = 2;
  if (!definitions.has_process) return false;
  const ProcessInfo& known = definitions.process;
  const std::string_view boot_id = process.boot_id() != nullptr ? process.boot_id()->string_view() : std::string_view();
  return process_messages == kMost || process.pid() != known.pid || boot_id != known.boot_id ||
         process.start_monotonic_ns() != known.start_monotonic_ns;
}

// Its events and names would be taken for this process's.
void TraceImpl::leave_out_from(std::uint64_t offset, const std::string& what) {
  joined = path + " " + what + " at byte " + std::to_string(offset) +
           ": files joined to one? Only what comes before was read; head -c and tail -c part them.";
}

void TraceImpl::load_frame(const IndexEntry& entry, Reading& reading, const Query& query) const {
  reading.decoded.clear();
  Frame frame;
  if (!file->load(entry.offset, reading.buffer, frame)) return;
  MessageCounts counts;  // they were counted when the frame was first seen
  MessageWalk walk(frame.data, counts);
  while (const trace::Message* message = walk.next()) {
    if (const trace::Progress* p = message->body_as_Progress()) {
      if (p->rings() != nullptr)
        for (const trace::RingPosition* r : *p->rings())
          reading.decoded.batches().set_generation(r->ring(), r->generation());
    } else {
      reading.decoded.add(*message, walk.bytes(), query, false, Place{frame.offset, walk.index(), false});
    }
  }
}

void TraceImpl::take(const trace::Progress& p, Reading& reading) {
  if (p.rings() != nullptr) {
    for (const trace::RingPosition* r : *p.rings()) {
      reading.decoded.batches().set_generation(r->ring(), r->generation());
      RingProgress& known = progress[r->ring()];
      if (r->generation() > known.generation) known = {r->generation(), r->head()};
      if (r->generation() == known.generation) known.head = std::max(known.head, r->head());
    }
  }
  if (p.dropped() != nullptr)
    for (std::size_t kind = 0; kind < std::min<std::size_t>(p.dropped()->size(), dropped.size()); ++kind)
      dropped[kind] = std::max(dropped[kind], p.dropped()->Get(static_cast<flatbuffers::uoffset_t>(kind)));
}

void TraceImpl::take(const trace::Evicted& e) {
  EvictedRange range;
  range.first_ns = e.first_ns();
  range.last_ns = e.last_ns();
  range.frames = e.frames();
  range.compressed_bytes = e.compressed_bytes();
  if (e.events() != nullptr) range.events.assign(e.events()->begin(), e.events()->end());
  range.events.resize(std::max<std::size_t>(range.events.size(), recorder::kKindCount));
  evicted.push_back(std::move(range));
}

void TraceImpl::finish() {
  scanned = true;
  join_ring();
  for (const CommBatch& batch : ring_events.batches().comms) comm_groups.add(batch);
  comm_groups.complete(definitions);
  count_losses();
}

void TraceImpl::join_ring() {
  if (!ring) {
    ring_join = clean_end() ? RingJoin::kNotNeeded : ring_path.empty() ? RingJoin::kNone : RingJoin::kUnusable;
    return;
  }
  for (std::size_t kind = 0; kind < dropped.size(); ++kind)
    dropped[kind] = std::max(dropped[kind], ring->dropped()[kind]);
  for (HookCount& hook : definitions.hooks)
    if (hook.number < ring->hook_fired().size()) hook.fired = std::max(hook.fired, ring->hook_fired()[hook.number]);
  ring->recover(progress);
  ring_events = RingEvents::take(*ring, progress, definitions);
  span.add(ring_events.span());
  rows += ring_events.records();
  if (ring_events.records() != 0)
    ring_join = RingJoin::kJoined;
  else
    ring_join = clean_end() ? RingJoin::kNotNeeded : RingJoin::kNothingNew;
  if (!definitions.exit) definitions.exit = ring->exit();
  if (!clean_end()) in_flight = ring->in_flight();
}

void TraceImpl::count_losses() {
  stats.add("frames", Severity::kInfo, frames);
  stats.add("events", Severity::kInfo, rows);
  for (const Damage& d : damage) {
    if (d.cut_off) {
      // The ring still has what an unfinished frame was to hold.
      const bool kept = ring_join == RingJoin::kJoined || ring_join == RingJoin::kNothingNew;
      stats.add("unfinished_frames", kept ? Severity::kNotice : Severity::kDataLoss, 1, d.what);
      stats.add("bytes_unfinished", Severity::kInfo, d.bytes);
    } else {
      stats.add("frames_damaged", Severity::kDataLoss, 1, d.what);
      stats.add("bytes_skipped", Severity::kDataLoss, d.bytes);
    }
  }
  const auto lost = [&](std::string_view name, std::uint64_t value, std::string detail) {
    if (value != 0) stats.add(name, Severity::kDataLoss, value, std::move(detail));
  };
  lost("messages_malformed", messages.malformed, "Messages of " + path + " do not verify and were stepped over.");
  lost("batches_malformed", malformed_batches, "Batches of " + path + " do not hold what they say.");
  lost("definitions_refused", definitions.refused(), path + " defines more texts and groups than any job does.");
  lost("stray_bytes", messages.stray_bytes, "Frames of " + path + " end in bytes that are no message.");
  lost("traces_joined", joined.empty() ? 0 : 1, joined);
  if (messages.unknown != 0)
    stats.add("messages_unknown", Severity::kNotice, messages.unknown,
              path + " has messages of a newer Plumbline, which were stepped over.");
  for (std::size_t kind = 0; kind < dropped.size(); ++kind)
    lost("dropped." + std::string(name_of(static_cast<Kind>(kind))), dropped[kind],
         "A ring was full: events were dropped.");
  for (const EvictedRange& e : evicted) {
    stats.add("evicted_frames", Severity::kNotice, e.frames, "The size limit of " + path + " was reached.");
    for (const std::uint64_t events : e.events) stats.add("evicted_events", Severity::kNotice, events);
  }
  if (ring_join == RingJoin::kJoined) stats.add("ring_events", Severity::kInfo, ring_events.records());
  if (ring) {
    if (ring_events.duplicates() != 0)
      stats.add("ring_slots_already_written", Severity::kInfo, ring_events.duplicates());
    lost("rings_damaged", ring->damaged_rings() + ring_events.damaged(),
         "Rings of " + ring_path + " hold slots that make no sense.");
  }
  if (ring && ring->stop())
    lost("recording_stopped", 1,
         "Recording into " + path + " ended before the process did: " + ring->stop()->reason + ".");
  if (ring_join == RingJoin::kUnusable) lost("ring_unusable", 1, ring_status.message());
  // What was imported from another program's files never had a ring.
  if (ring_join == RingJoin::kNone && definitions.fact("source.format").empty())
    lost("ring_missing", 1, path + " has no end and no ring file beside it: its last events are lost.");
  if (!clean_end()) stats.add("no_clean_end", Severity::kNotice, 1, path + " has no end record.");
}

}  // namespace plumbline::reader
