// The batches of one frame, by type: what a FrameView looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/batch.hpp"

namespace plumbline::reader {

struct BatchSet {
  std::vector<AllocationBatch> allocations;
  std::vector<CollectiveBatch> collectives;
  std::vector<MarkBatch> marks;
  std::vector<RangeBatch> ranges;
  std::vector<StepBatch> steps;
  std::vector<StepGroupBatch> step_groups;
  std::vector<SampleBatch> samples;
  std::vector<CommBatch> comms;
  std::vector<DeviceWorkBatch> device_works;

  // Calls visit(vector of batches, type) for each type.
  template <class Self, class Visit>
  static void for_each_type(Self& self, Visit&& visit) {
    visit(self.allocations, kAllocations);
    visit(self.collectives, kCollectives);
    visit(self.marks, kMarks);
    visit(self.ranges, kRanges);
    visit(self.steps, kSteps);
    visit(self.step_groups, kStepGroups);
    visit(self.samples, kSamples);
    visit(self.comms, kComms);
    visit(self.device_works, kDeviceWorks);
  }

  void clear() {
    for_each_type(*this, [](auto& batches, Kinds) { batches.clear(); });
  }
  bool empty() const {
    bool none = true;
    for_each_type(*this, [&](const auto& batches, Kinds) { none = none && batches.empty(); });
    return none;
  }
  // Which thread owned a ring when the batches were recorded.
  void set_generation(std::uint32_t ring, std::uint64_t generation) {
    for_each_type(*this, [&](auto& batches, Kinds) {
      for (auto& batch : batches)
        if (batch.ring == ring) batch.generation = generation;
    });
  }
  FrameView view() const {
    return {allocations, collectives, marks, ranges, steps, step_groups, samples, comms, device_works};
  }
};

// The least and the greatest of some times; rows may be slightly out of order, so all are looked at.
struct TimeSpan {
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_ns = 0;

  void add(const TimeSpan& other) {
    if (other.first_ns < first_ns) first_ns = other.first_ns;
    if (other.last_ns > last_ns) last_ns = other.last_ns;
  }
  bool empty() const { return first_ns > last_ns; }
  bool overlaps(const Query& query) const { return !empty() && first_ns <= query.to_ns && last_ns >= query.from_ns; }
};

TimeSpan span_of(Column times);

}  // namespace plumbline::reader
