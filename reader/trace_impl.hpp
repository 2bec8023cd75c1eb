// What a Trace holds: how far its file has been gone through, and what was found on the way.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/comm_groups.hpp"
#include "reader/frame_decoder.hpp"
#include "reader/frame_file.hpp"
#include "reader/messages.hpp"
#include "reader/ring_events.hpp"
#include "reader/ring_snapshot.hpp"
#include "reader/steps.hpp"
#include "reader/trace.hpp"

namespace plumbline::trace {
struct Process;
struct Progress;
struct Evicted;
}  // namespace plumbline::trace

namespace plumbline::reader {

// Memory for going through a trace once.
struct Reading {
  FrameBuffer buffer;
  DecodedFrame decoded;
};

struct TraceImpl {
  // A frame that holds events, for reads that come later.
  struct IndexEntry {
    std::uint64_t offset = 0;
    Kinds kinds = 0;
    TimeSpan span;
  };

  std::string path;
  std::string ring_path;
  std::optional<FrameFile> file;  // none: only a ring was left behind
  std::optional<RingSnapshot> ring;
  Status ring_status;  // why `ring` is not there although there is a path
  int launch = 0;
  std::string continued_in;

  FrameFile::Position position;
  bool scanned = false;
  std::vector<IndexEntry> index;
  Definitions definitions;
  std::vector<Damage> damage;
  std::vector<EvictedRange> evicted;
  std::vector<InFlightCall> in_flight;
  std::vector<std::uint64_t> dropped = std::vector<std::uint64_t>(recorder::kKindCount);
  std::map<std::uint32_t, RingProgress> progress;
  MessageCounts messages;
  std::uint64_t frames = 0;
  std::uint64_t rows = 0;
  std::uint64_t malformed_batches = 0;
  bool ends_with_seek_table = false;
  std::uint64_t process_messages = 0;
  std::string joined;  // what else the file holds, as a sentence; empty: nothing
  CommGroups comm_groups;
  TimeSpan span;
  RingEvents ring_events;
  RingJoin ring_join = RingJoin::kNone;
  Stats stats;
  std::optional<StepTimeline> steps;

  // Goes through one more frame. False: there are no more, and the ring has been joined.
  bool scan_frame(Reading& reading, const Query& query);
  void scan();  // to the end
  // A frame of the index again.
  void load_frame(const IndexEntry& entry, Reading& reading, const Query& query) const;
  bool clean_end() const { return definitions.exit.has_value() && ends_with_seek_table; }

 private:
  void take_messages(const Frame& frame, Reading& reading, const Query& query);
  bool begins_another(const trace::Process& process) const;
  void leave_out_from(std::uint64_t offset, const std::string& what);
  void take(const trace::Progress& progress, Reading& reading);
  void take(const trace::Evicted& evicted);
  void finish();
  void join_ring();
  void count_losses();
};

}  // namespace plumbline::reader
