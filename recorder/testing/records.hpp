// Short ways to write records in tests.
#pragma once

#include "recorder/event.hpp"

namespace plumbline::recorder::testing {

inline AllocRecord alloc_record(std::uint64_t time_ns, std::uint64_t address, std::uint64_t size) {
  return {{time_ns, Kind::kAlloc, slots_of<AllocRecord>(), 0, alloc_tag(Source::kCpu, -1)}, address, size};
}

inline AllocRecord free_record(std::uint64_t time_ns, std::uint64_t address) {
  return {{time_ns, Kind::kFree, slots_of<AllocRecord>(), 0, alloc_tag(Source::kCpu, -1)}, address, 0};
}

inline CollectiveRecord collective_record(std::uint64_t time_ns, std::uint64_t id, std::uint64_t group = 0) {
  CollectiveRecord record{};
  record.header = {time_ns, Kind::kCollective, slots_of<CollectiveRecord>(), 0,
                   collective_tag(Op::kAllReduce, ReduceOp::kSum, Dtype::kFloat32, Layer::kC10d)};
  record.id = id;
  record.group = group;
  record.seq = id - 1;
  record.count_in = record.count_out = 1024;
  record.peer = -1;
  return record;
}

inline CollectiveMarkRecord mark_record(Kind kind, std::uint64_t time_ns, std::uint64_t id,
                                        Outcome outcome = Outcome::kPending) {
  return {{time_ns, kind, slots_of<CollectiveMarkRecord>(), 0, static_cast<std::uint32_t>(outcome)}, id, 0};
}

inline RangeRecord range_record(Kind kind, std::uint64_t time_ns, std::uint64_t name, std::uint64_t handle) {
  return {{time_ns, kind, slots_of<RangeRecord>(), 0, 7}, name, handle};
}

}  // namespace plumbline::recorder::testing
