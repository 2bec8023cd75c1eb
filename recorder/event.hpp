// The records that hooks write into a ring: plain structs, one per kind, each a whole number of 32-byte slots.
//
// A record starts with RecordHeader. A slot whose kind is kNone was never written (a ring starts zeroed), and a kSkip
// record fills the rest of a ring up to its wrap point. Values are host-endian: a ring never leaves its machine before
// the reader or the writer has turned it into a trace. Times are CLOCK_MONOTONIC nanoseconds.
//
//   AllocRecord r{};
//   r.header = {now, Kind::kAlloc, slots_of<AllocRecord>(), 0, make_device(Source::kCpu, -1)};
//   ring.push(&r.header);
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace plumbline::recorder {

inline constexpr std::size_t kSlotBytes = 32;

enum class Kind : std::uint16_t {
  kNone = 0,
  kSkip = 1,
  kAlloc = 2,             // AllocRecord
  kFree = 3,              // AllocRecord (size 0: the reader joins it with the allocation)
  kAllocFailed = 4,       // AllocRecord (address 0)
  kCollective = 5,        // CollectiveRecord, written before the real call
  kCollectiveStart = 6,   // CollectiveMarkRecord: the backend began to execute it
  kCollectiveEnd = 7,     // CollectiveMarkRecord with an outcome
  kCollectiveReturn = 8,  // CollectiveMarkRecord: the enqueuing call came back, with its return code
  kWait = 9,              // CollectiveMarkRecord: a thread began to wait for it
  kWaitEnd = 10,          // CollectiveMarkRecord
  kRangeBegin = 11,       // RangeRecord
  kRangeEnd = 12,         // RangeRecord
  kStepBegin = 13,        // StepRecord: an optimizer's step() was entered
  kStepEnd = 14,          // StepRecord
  kStepGroup = 15,        // StepGroupRecord: settings of one param group, seen by the step's pre-hook
  kGroup = 16,            // GroupRecord: a process group or communicator, its name and ranks follow as text
  kText = 17,             // TextRecord: the text behind an id
  kFact = 18,             // FactRecord: one "key=value" process fact
  kSample = 19,           // SampleRecord: a counter's value (resident memory, cgroup memory …)
  kComm = 20,             // CommRecord: a communicator's life: init, split, abort, destroy
  kDeviceWork = 21,       // DeviceWorkRecord: a kernel, copy or memory set that a device has done
};

// Who allocated. Together with the device index it fills RecordHeader::tag of allocator records.
enum class Source : std::uint8_t {
  kCpu = 0,             // c10::alloc_cpu / free_cpu
  kCudaMalloc = 1,      // cudaMalloc, cudaFree
  kCudaAsync = 2,       // cudaMallocAsync, cudaFreeAsync
  kCudaHost = 3,        // cudaMallocHost, cudaHostAlloc, cudaFreeHost
  kCudaManaged = 4,     // cudaMallocManaged
  kCachingBlock = 5,    // a block handed out by the CUDA caching allocator
  kCachingSegment = 6,  // a segment that the caching allocator took from the driver, or mapped
  kNcclInternal = 7,    // a CUDA allocation made inside an NCCL call
};

enum class Op : std::uint8_t {
  kUnknown = 0,
  kAllReduce,
  kAllReduceSparse,
  kAllReduceCoalesced,
  kReduce,
  kBroadcast,
  kAllGather,
  kAllGatherBase,
  kAllGatherCoalesced,
  kAllGatherIntoTensorCoalesced,
  kReduceScatter,
  kReduceScatterBase,
  kReduceScatterTensorCoalesced,
  kAllToAll,
  kAllToAllBase,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kRecvAnySource,
  kBarrier,
  kMonitoredBarrier,
  kGroupCall,  // ncclGroupStart … ncclGroupEnd
  kCount_,
};

enum class ReduceOp : std::uint8_t { kSum = 0, kAvg, kProd, kMin, kMax, kBand, kBor, kBxor, kPremulSum, kNone = 255 };

// Element types, numbered for the trace; the names are PyTorch's.
enum class Dtype : std::uint8_t {
  kUnknown = 0,
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kBool,
  kComplex64,
  kComplex128,
  kFloat8E4m3,
  kFloat8E5m2,
  kUint16,
};

// Which interface the call came through. A collective of an outer layer may contain calls of an inner one (parent).
enum class Layer : std::uint8_t { kC10d = 0, kNccl = 1 };

enum class Outcome : std::uint8_t {
  kPending = 0,    // nothing seen after the start (or after the enqueue)
  kCompleted = 1,  // executed without an error
  kFailed = 2,     // executed with an error
  kRaised = 3,     // the enqueuing call itself raised or returned an error
  kCaptured = 4,   // recorded into a CUDA graph, not executed
};

struct RecordHeader {
  std::uint64_t time_ns;
  Kind kind;
  std::uint8_t slots;
  std::uint8_t depth;  // nesting depth (ranges, optimizer steps), 0 outermost
  std::uint32_t tag;   // per kind, see each record
};
static_assert(sizeof(RecordHeader) == 16);

// tag: source in bits 0–7, device index + 1 in bits 8–23 (0: no device).
struct AllocRecord {
  RecordHeader header;
  std::uint64_t address;
  std::uint64_t size;
};

// tag: op in bits 0–7, reduce op in bits 8–15, dtype in bits 16–23, layer in bits 24–31.
struct CollectiveRecord {
  RecordHeader header;
  std::uint64_t id;         // unique in the process, from 1
  std::uint64_t group;      // text-like hash id of the GroupRecord, 0 when not known
  std::uint64_t seq;        // number of the call in its group, from 0; point-to-point calls count apart
  std::uint64_t count_in;   // elements this rank puts in
  std::uint64_t count_out;  // elements this rank gets out
  std::int32_t peer;        // root or peer, group-local rank; -1 none
  std::int32_t tensor_tag;  // point-to-point tag; 0 none
  std::uint64_t parent;     // id of the enclosing collective of an outer layer, 0 none
  std::uint64_t buffer_in;  // address of the first input buffer, 0 not known
  std::uint64_t buffer_out;
  std::uint64_t stream;  // CUDA stream handle, 0 none
  std::uint16_t tensors_in;
  std::uint16_t tensors_out;
  std::uint32_t splits_hash;  // of the split sizes of an uneven all-to-all, 0 even
  std::uint64_t site;  // TextRecord id: Python line outside of torch that made the call; 0 not known, or the parent's
};

// tag: outcome in bits 0–7. code: the call's return code (NCCL), else 0.
struct CollectiveMarkRecord {
  RecordHeader header;
  std::uint64_t id;
  std::int64_t code;
};

// tag: scope of the range (at::RecordScope), 7 user.
struct RangeRecord {
  RecordHeader header;
  std::uint64_t name;    // TextRecord id
  std::uint64_t handle;  // pairs begin with end across threads
};

// tag: 1 when the step raised (kStepEnd), else 0. depth: optimizer steps around this one on the thread.
struct StepRecord {
  RecordHeader header;
  std::uint64_t handle;     // pairs begin, groups and end
  std::uint64_t name;       // TextRecord id of the optimizer's class
  std::uint64_t optimizer;  // identity of the Python object, 0 when the pre-hook has not run (kStepBegin)
  std::uint64_t key;        // identity of what it steps: hash over the param groups' first parameters
};

// tag: index of the param group in bits 0–15, number of groups in bits 16–31.
struct StepGroupRecord {
  RecordHeader header;
  std::uint64_t handle;     // of the StepRecord
  std::uint64_t optimizer;  // identity of the Python object
  std::uint64_t key;        // as in StepRecord
  double lr;                // NaN: absent, or a tensor on a device
  double weight_decay;
  double beta1;
  double beta2;
  double eps;
  double momentum;
  double step;  // step counter of the group's first parameter with state, before the step
  std::uint32_t params;
  std::uint32_t params_with_grad;
  std::uint64_t elements;  // over all parameters of the group
};

// tag: number of bytes of text; the text follows the struct: "name\0description\0backend\0r0,r1,…" (ranks global;
// empty: 0 … size-1).
struct GroupRecord {
  RecordHeader header;
  std::uint64_t group;
  std::uint64_t pointer;  // address of the backend or communicator
  std::int32_t rank;      // of this process in the group
  std::int32_t size;
};

// tag: number of bytes of text that follow the struct.
struct TextRecord {
  RecordHeader header;
  std::uint64_t id;
  std::uint64_t reserved;
};

// tag: number of bytes of "key=value" that follow the struct.
struct FactRecord {
  RecordHeader header;
  std::uint64_t reserved[2];
};

enum class Counter : std::uint32_t {
  kResidentBytes = 0,
  kCgroupBytes = 1,
  kGpuUsedBytes = 2,
  kGraphLaunches = 3,        // CUDA graph launches so far: what was captured into a graph ran again
  kCgroupOomKills = 4,       // processes of the cgroup that the kernel has killed for memory, so far
  kGarbageCollectionNs = 5,  // how long one collection of Python's garbage took; told at its end, when it was long
  kProcessorWaitNs = 6,      // that the training thread could have run but had no processor, so far
  kBatchRows = 7,            // of what the model's embedding was given, in front of kBatchLength at the same time
  kBatchLength = 8,          // tokens of each row
};

// tag: Counter.
struct SampleRecord {
  RecordHeader header;
  std::int64_t value;
  std::uint64_t reserved;
};

enum class CommEvent : std::uint32_t { kInit = 0, kSplit, kFinalize, kDestroy, kAbort, kRevoke, kShrink };

// tag: CommEvent in bits 0–7. The making of a communicator leaves two: one when the call is entered (comm 0, code
// ncclInProgress), so that one that hangs shows, and one when it came back.
struct CommRecord {
  RecordHeader header;
  std::uint64_t comm;    // address of the communicator
  std::uint64_t parent;  // split or shrunk from, 0 none
  std::uint64_t unique_id_hash;
  std::int32_t rank;
  std::int32_t size;
  std::int64_t code;
  std::uint64_t group;  // process group, 0 when not known
};

enum class DeviceWork : std::uint8_t { kKernel = 0, kCopy, kMemset };

// Told when it is over, so it may stand far behind its time, which is when the device began. tag: DeviceWork in bits
// 0–7, device in bits 8–15, for a copy CUpti_ActivityMemcpyKind in bits 16–23.
struct DeviceWorkRecord {
  RecordHeader header;
  std::uint64_t duration_ns;
  std::uint64_t name;    // TextRecord id, of a kernel its mangled name
  std::uint64_t parent;  // handle of the range or id of the collective inside of which it was launched, 0 not known
  std::uint64_t bytes;   // of a copy or memory set
  std::uint32_t stream;  // CUPTI's number
  std::uint32_t correlation;
  std::uint64_t reserved;
};

template <class T>
constexpr std::uint8_t slots_of(std::size_t trailing = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  return static_cast<std::uint8_t>((sizeof(T) + trailing + kSlotBytes - 1) / kSlotBytes);
}

static_assert(slots_of<AllocRecord>() == 1 && slots_of<CollectiveRecord>() == 4);

// Text longer than this is cut: a record then still fits 16 slots.
inline constexpr std::size_t kMaxText = 16 * kSlotBytes - sizeof(GroupRecord);
// Facts and groups are rare and may be long: a "key=value" or a list of ranks of up to this many bytes is kept whole. A
// longer list of ranks is cut after a rank, so it is shorter than the group's size.
inline constexpr std::size_t kMaxFact = 128 * kSlotBytes - sizeof(GroupRecord);

constexpr std::uint32_t alloc_tag(Source source, int device) {
  return static_cast<std::uint32_t>(source) | static_cast<std::uint32_t>(device + 1) << 8;
}
constexpr Source source_of(std::uint32_t tag) { return static_cast<Source>(tag & 0xff); }
constexpr int device_of(std::uint32_t tag) { return static_cast<int>(tag >> 8 & 0xffff) - 1; }

constexpr std::uint32_t collective_tag(Op op, ReduceOp reduce, Dtype dtype, Layer layer) {
  return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(reduce) << 8 |
         static_cast<std::uint32_t>(dtype) << 16 | static_cast<std::uint32_t>(layer) << 24;
}

}  // namespace plumbline::recorder
