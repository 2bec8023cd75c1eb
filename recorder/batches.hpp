// Turns the records of rings into the event messages of one frame: a FlatBuffers batch for each ring and kind.
//
//   batches.begin_ring(3);
//   while (const RecordHeader* r = reader.next()) batches.add(*r);
//   batches.append_to(messages);          // size-prefixed, in the order of the rings
//
// Not thread-safe. Its buffers are kept between frames, so that a steady state allocates nothing.
#pragma once

#include <array>
#include <vector>

#include "recorder/column.hpp"
#include "recorder/event.hpp"
#include "recorder/messages.hpp"

namespace plumbline::recorder {

using Values = std::vector<std::uint64_t>;
using EventCounts = std::array<std::uint64_t, 32>;  // by Kind

// What a frame holds, for the index that outlives its eviction.
struct FrameSummary {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  EventCounts events{};

  void note(Kind kind, std::uint64_t time_ns) noexcept;
  void merge(const FrameSummary& other) noexcept;
};

// Marks are half of what a collective costs on disk, and the last digits of their times are noise: a job's own trace
// keeps them in units of 1,024 ns, rounded up, so that a start never comes before its call.
enum class MarkTimes : std::uint8_t { kExact, kCoarse };
inline constexpr std::uint64_t kMarkGrainNs = 1024;

class Batches {
 public:
  explicit Batches(MarkTimes mark_times = MarkTimes::kExact) : mark_times_(mark_times) {}

  // Closes the batches of the ring before and starts those of `ring`.
  void begin_ring(std::uint32_t ring);
  // Definitions are skipped: they are for Definitions.
  void add(const RecordHeader& record);
  // Ends the last ring, appends all messages to `out` and starts afresh.
  FrameSummary append_to(MessageBuffer& out);

  bool empty() const noexcept { return summary_.last_ns == 0; }

 private:
  // One family of batches: its rows, column by column, of the ring in hand.
  template <std::size_t kColumns>
  struct Rows {
    std::vector<std::uint8_t> kinds;
    std::array<Values, kColumns> columns;
    std::uint32_t count = 0;

    void add(Kind kind, const std::array<std::uint64_t, kColumns>& row) {
      kinds.push_back(static_cast<std::uint8_t>(kind));
      for (std::size_t i = 0; i < kColumns; ++i) columns[i].push_back(row[i]);
      ++count;
    }
    void clear() {
      kinds.clear();
      for (Values& column : columns) column.clear();
      count = 0;
    }
  };

  std::uint64_t mark_time(std::uint64_t time_ns) const noexcept;
  void end_ring();
  void add_allocation(const AllocRecord& record);
  void add_collective(const CollectiveRecord& record);
  void add_mark(const CollectiveMarkRecord& record);
  void add_range(const RangeRecord& record);
  void add_step(const StepRecord& record);
  void add_step_group(const StepGroupRecord& record);
  void add_sample(const SampleRecord& record);
  void add_comm(const CommRecord& record);
  void add_device_work(const DeviceWorkRecord& record);

  void write_allocations();
  void write_collectives();
  void write_marks();
  void write_ranges();
  void write_steps();
  void write_step_groups();
  void write_samples();
  void write_comms();
  void write_device_works();

  MarkTimes mark_times_;
  std::uint32_t ring_ = 0;
  FrameSummary summary_;
  MessageBuffer messages_;
  MessageBuilder builder_;
  Rows<4> allocations_;
  Rows<17> collectives_;
  Rows<4> marks_;
  Rows<5> ranges_;
  Rows<7> steps_;
  Rows<15> step_groups_;
  Rows<3> samples_;
  Rows<9> comms_;
  Rows<8> device_works_;
};

}  // namespace plumbline::recorder
