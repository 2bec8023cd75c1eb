// Takes what threads have put into the rings and writes it to the trace: one pass is a definition frame (if there is
// anything to define) and an event frame.
//
// The order of a pass makes the trace complete whatever moment the process dies at: heads are read, the frames are
// written, and only then the rings' tails move. Definitions are taken up to a second reading of the heads, after that
// of the events: a text is always in its ring before an event anywhere refers to it, so it reaches the file first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recorder/definitions.hpp"
#include "recorder/ring_map.hpp"
#include "recorder/trace_writer.hpp"
#include "recorder/training_thread.hpp"

namespace plumbline::recorder {

class Drain {
 public:
  Drain(RingMap& rings, TraceWriter& trace) : rings_(rings), trace_(trace), cursors_(rings.count()) {}

  // Definitions from outside the rings, written with the next pass.
  Definitions& definitions() noexcept { return definitions_; }

  // One pass over all rings. A sentence when the trace cannot be written.
  std::optional<std::string> pass();

  // How much there is to drain: the fullest ring as a fraction of its capacity, or of this many slots if that is less,
  // or the fraction of the rings that wait to be drained because their thread has ended.
  double fullest(std::uint64_t slots = ~std::uint64_t{0}) const noexcept;

  // Learnt from what has passed through.
  const TrainingThread& training_thread() const noexcept { return training_thread_; }

  // The job has written over a ring, and events were lost for it.
  bool damaged() const noexcept { return damaged_; }

 private:
  struct Cursor {
    std::uint64_t definitions = 0;  // slot up to which they were taken
    std::uint64_t generation = 0;   // of the owner that the trace knows
    std::uint64_t events = 0;       // slot up to which this pass has them
  };

  bool take(std::uint32_t index, std::uint64_t event_end, std::uint64_t budget);
  void take_definitions(std::uint32_t index, std::uint64_t end);
  void announce_thread(std::uint32_t index);
  std::optional<std::string> part(const std::vector<std::uint64_t>& heads, bool& more);
  std::optional<std::string> write_frames();
  void append_progress();
  EventCounts dropped() const noexcept;  // since the start, over all threads

  RingMap& rings_;
  TraceWriter& trace_;
  std::vector<Cursor> cursors_;
  Definitions definitions_;
  TrainingThread training_thread_;
  Batches batches_{MarkTimes::kCoarse};
  MessageBuilder builder_;
  MessageBuffer buffer_;
  EventCounts told_dropped_{};  // as of the last Progress
  bool damaged_ = false;
};

}  // namespace plumbline::recorder
