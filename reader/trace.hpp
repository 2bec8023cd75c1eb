// One process's trace: the trace file, joined with its ring file when the process was killed before it had written
// everything.
//
// A trace is streamed, never loaded. Opening reads only its head; the first read() or a call that needs the whole file
// (exit(), stats() …) goes through all frames once and keeps what must be known: definitions, progress, damage, and an
// index of the frames by time, so that later reads with a narrow window touch few of them.
//
// A trace whose process still runs is read as it stood when it was opened.
//
// One thread at a time may use a Trace; different traces may be used from different threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reader/batch.hpp"
#include "reader/definitions.hpp"
#include "reader/stats.hpp"
#include "reader/status.hpp"

namespace plumbline::reader {

class StepTimeline;
struct TraceImpl;

enum class RingJoin {
  kNone,        // no ring file beside the trace: what the writer had not written is lost, unless the end was clean
  kNotNeeded,   // the trace has a clean end
  kJoined,      // events that only the ring had were added
  kNothingNew,  // the ring held nothing that the trace had not
  kUnusable,    // there is a ring file, but it cannot be used; stats() say why
};

class Trace {
 public:
  // Either file may be empty, not both: a process killed before its first flush leaves only a ring.
  static Result<Trace> open(const std::string& trace_path, const std::string& ring_path);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  // Known at once.
  const std::string& path() const;
  const std::string& ring_path() const;  // empty: none
  const ProcessInfo& process() const;
  int rank() const;             // global rank: the world group's if the trace has one, else the environment's, else -1
  bool rank_confirmed() const;  // by the world group
  int attempt() const { return process().attempt; }
  const std::string& host() const { return process().host; }
  std::uint32_t pid() const { return process().pid; }
  int launch() const;      // 0 … : which launch, when a directory holds more than one run
  int world_size() const;  // as the world group says if the trace has one, else the environment; 0 when not known
  // The trace in which the process goes on after it replaced its program (exec); empty: none in this run.
  const std::string& continued_in() const;
  // A fact as far as the trace has been read: those of a process's start are there at once.
  std::string_view early_fact(std::string_view key) const;

  // These go through the file once if that has not happened yet.
  const Definitions& definitions() const;
  std::string_view text(std::uint64_t id) const { return definitions().text(id); }
  const Group* group(std::uint64_t id) const { return definitions().group(id); }
  const ExitInfo* exit() const;       // null: no Exit was written
  bool clean_end() const;             // Exit and the seek table are there, and nothing follows
  const RecordingStop* stop() const;  // null: recording did not end before the process did, as far as one can tell
  RingJoin ring_join() const;
  const std::vector<InFlightCall>& in_flight() const;
  const std::vector<EvictedRange>& evicted() const;
  const std::vector<Damage>& damage() const;
  const std::vector<std::uint64_t>& dropped() const;  // events dropped by a full ring, by recorder::Kind
  std::uint64_t first_ns() const;                     // time of the first and last event, 0 when there is none
  std::uint64_t last_ns() const;
  const Stats& stats() const;

  // Logical steps, see reader/steps.hpp. Inferred once, then kept.
  const StepTimeline& steps() const;

  // Gives every frame that has batches of interest to `visit`, those of the ring last; `visit` returns false to stop.
  // The trace may be read any number of times.
  using Visit = std::function<bool(const FrameView&)>;
  void read(const Query& query, const Visit& visit) const;

 private:
  friend class Run;
  friend class FrameCursor;
  friend struct TraceSummary summarize(const Trace& trace, std::size_t most_stays);
  void keep_steps(StepTimeline timeline) const;
  explicit Trace(std::unique_ptr<TraceImpl> impl);
  std::unique_ptr<TraceImpl> impl_;
};

// The same as Trace::read(), pulled instead of pushed: for walking many traces at the same time.
//
//   FrameCursor cursor(trace, query);
//   while (const FrameView* frame = cursor.next()) …
class FrameCursor {
 public:
  FrameCursor(const Trace& trace, const Query& query);
  FrameCursor(FrameCursor&&) noexcept;
  ~FrameCursor();
  const FrameView* next();  // null at the end; the view lives until the next call

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plumbline::reader
