// The events of a ring snapshot that the trace lacks, as batches like those of a frame.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "reader/batch_set.hpp"
#include "reader/definitions.hpp"
#include "reader/ring_snapshot.hpp"

namespace plumbline::reader {

class RingEvents {
 public:
  // Texts, groups and facts among the records go into `definitions`, and so do the rings' threads.
  static RingEvents take(const RingSnapshot& snapshot, const std::map<std::uint32_t, RingProgress>& progress,
                         Definitions& definitions);
  RingEvents() = default;
  RingEvents(RingEvents&&) noexcept = default;
  RingEvents& operator=(RingEvents&&) noexcept = default;

  std::uint64_t records() const { return records_; }
  std::uint64_t duplicates() const { return duplicate_slots_; }  // slots that the trace already had
  std::uint64_t damaged() const { return damaged_; }             // rings whose slots make no sense from somewhere on
  TimeSpan span() const { return span_; }
  const BatchSet& batches() const { return batches_; }
  // The batches that a query asks for.
  BatchSet select(const Query& query) const;

 private:
  template <std::size_t kColumns>
  struct Rows {
    std::vector<std::uint8_t> kind;
    std::array<std::vector<std::uint64_t>, kColumns> columns;
    void put(std::array<std::uint64_t, kColumns> values);
  };
  // Rows of one ring; the batches point into them.
  struct RingRows {
    Rows<4> allocations;
    Rows<17> collectives;
    Rows<4> marks;
    Rows<5> ranges;
    Rows<7> steps;
    Rows<15> step_groups;
    Rows<3> samples;
    Rows<9> comms;
    Rows<8> device_works;
  };
  void take_ring(const RingSnapshot::Ring& ring, std::uint64_t from, Definitions& definitions);
  void take_record(const recorder::RecordHeader& header, const std::byte* bytes, RingRows& rows,
                   Definitions& definitions);
  void add_batches(const RingSnapshot::Ring& ring, const RingRows& rows);

  std::vector<std::unique_ptr<RingRows>> rows_;
  BatchSet batches_;
  TimeSpan span_;
  std::uint64_t records_ = 0;
  std::uint64_t duplicate_slots_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace plumbline::reader
