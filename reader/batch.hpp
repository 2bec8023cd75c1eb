// What a trace hands out: columns of events, one batch a ring (thread) and kind, grouped by the frame they came in.
//
// A column is a span over a buffer that is used again for the next frame: copy what must outlive the callback. All
// columns of a batch have `count` values, also where the file stores fewer (sizes of frees read 0).
//
//   trace.read(Query{.kinds = kAllocations}, [&](const FrameView& frame) {
//     for (const AllocationBatch& batch : frame.allocations)
//       for (std::size_t i = 0; i < batch.count; ++i) use(batch.time_ns[i], batch.address[i], batch.size[i]);
//     return true;
//   });
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "reader/definitions.hpp"
#include "recorder/event.hpp"

namespace plumbline::reader {

using recorder::CommEvent;
using recorder::Counter;
using recorder::Dtype;
using recorder::Kind;
using recorder::Layer;
using recorder::Op;
using recorder::Outcome;
using recorder::ReduceOp;
using recorder::Source;

using Column = std::span<const std::uint64_t>;
using Bytes = std::span<const std::uint8_t>;

// A place in a trace that a person can go to: byte offset of the zstd frame in the file and number of the message in
// it. Events taken from the ring have `from_ring` and the ring's slot number instead.
struct Place {
  std::uint64_t frame_offset = 0;
  std::uint32_t message = 0;
  bool from_ring = false;
};

struct BatchHeader {
  std::uint32_t ring = 0;
  std::uint64_t generation = 0;  // which of the threads that owned the ring one after the other; 0 not known
  std::size_t count = 0;
  Column time_ns;
  Place place;
};

struct AllocationBatch : BatchHeader {
  Bytes kind;  // Kind::kAlloc, kFree, kAllocFailed
  Column tag;  // recorder::source_of(), recorder::device_of()
  Column address;
  Column size;
};

struct CollectiveBatch : BatchHeader {
  Column tag;  // op_of(), reduce_op_of(), dtype_of(), layer_of()
  Column id, group, seq, count_in, count_out;
  Column peer;        // signed as two's complement
  Column tensor_tag;  // signed as two's complement
  Column parent, buffer_in, buffer_out, stream, tensors_in, tensors_out, splits_hash;
  Column site;  // text, 0 not known
};

struct MarkBatch : BatchHeader {
  Bytes kind;  // Kind::kCollectiveStart, kCollectiveEnd, kCollectiveReturn, kWait, kWaitEnd
  Column outcome;
  Column id;
  Column code;  // signed as two's complement
};

struct RangeBatch : BatchHeader {
  Bytes kind;  // Kind::kRangeBegin, kRangeEnd
  Column depth, scope, name, handle;
};

struct StepBatch : BatchHeader {
  Bytes kind;  // Kind::kStepBegin, kStepEnd
  Column depth, raised, handle, name, optimizer, key;
};

struct StepGroupBatch : BatchHeader {
  Column tag;  // index of the param group in bits 0–15, number of groups in bits 16–31
  Column handle, optimizer, key;
  Column lr, weight_decay, beta1, beta2, eps, momentum, step;  // bits of doubles, see as_double()
  Column params, params_with_grad, elements;
};

struct SampleBatch : BatchHeader {
  Column counter;  // Counter
  Column value;    // signed as two's complement
};

struct CommBatch : BatchHeader {
  Column event;  // CommEvent
  Column comm, parent, unique_id_hash;
  Column rank, size, code;  // signed as two's complement
  Column group;
};

struct DeviceWorkBatch : BatchHeader {
  Column tag;  // see recorder/event.hpp
  Column duration_ns;
  Column name, parent;  // text; handle of a range or id of a collective
  Column bytes, stream, correlation;
};

inline recorder::DeviceWork device_work_of(std::uint64_t tag) { return static_cast<recorder::DeviceWork>(tag & 0xff); }
inline std::uint64_t device_of_work(std::uint64_t tag) { return tag >> 8 & 0xff; }
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline Op op_of(std::uint64_t tag) { return static_cast<Op>(tag & 0xff); }
inline ReduceOp reduce_op_of(std::uint64_t tag) { return static_cast<ReduceOp>(tag >> 8 & 0xff); }
inline Dtype dtype_of(std::uint64_t tag) { return static_cast<Dtype>(tag >> 16 & 0xff); }
inline Layer layer_of(std::uint64_t tag) { return static_cast<Layer>(tag >> 24 & 0xff); }

// Sets of batch types, for queries. Types that are not asked for are not decoded.
using Kinds = std::uint32_t;
inline constexpr Kinds kAllocations = 1u << 0;
inline constexpr Kinds kCollectives = 1u << 1;
inline constexpr Kinds kMarks = 1u << 2;
inline constexpr Kinds kRanges = 1u << 3;
inline constexpr Kinds kSteps = 1u << 4;
inline constexpr Kinds kStepGroups = 1u << 5;
inline constexpr Kinds kSamples = 1u << 6;
inline constexpr Kinds kComms = 1u << 7;
inline constexpr Kinds kDeviceWorks = 1u << 8;
inline constexpr Kinds kEverything = (1u << 9) - 1;

// What to read. Batches that lie wholly outside [from_ns, to_ns] (the trace's own CLOCK_MONOTONIC, both ends included)
// are left out; the others come whole, so a row must still be tested: contains().
struct Query {
  Kinds kinds = kEverything;
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();

  bool contains(std::uint64_t time_ns) const { return time_ns >= from_ns && time_ns <= to_ns; }
};

// All batches of one frame, in the order of the file; batches of one ring follow each other in time. Frames are nearly
// ordered in time: threads are drained one after the other, so neighbouring frames may overlap by some milliseconds.
struct FrameView {
  std::span<const AllocationBatch> allocations = {};
  std::span<const CollectiveBatch> collectives = {};
  std::span<const MarkBatch> marks = {};
  std::span<const RangeBatch> ranges = {};
  std::span<const StepBatch> steps = {};
  std::span<const StepGroupBatch> step_groups = {};
  std::span<const SampleBatch> samples = {};
  std::span<const CommBatch> comms = {};
  std::span<const DeviceWorkBatch> device_works = {};
  std::span<const EvictedRange> evicted = {};  // all stretches known to be missing before this frame, or anywhere
  std::uint64_t offset = 0;                    // of the frame in the file
  bool from_ring = false;  // taken from the ring file: what the writer had not written yet when the process died
};

}  // namespace plumbline::reader
