#include "recorder/batches.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace plumbline::recorder {
namespace {

constexpr std::uint64_t low_bits(std::uint32_t tag, unsigned shift, unsigned bits) {
  return tag >> shift & ((1u << bits) - 1);
}

std::uint64_t sign_extended(std::int64_t value) { return static_cast<std::uint64_t>(value); }

}  // namespace

void FrameSummary::note(Kind kind, std::uint64_t time_ns) noexcept {
  if (first_ns == 0 || time_ns < first_ns) first_ns = time_ns;
  last_ns = std::max(last_ns, time_ns);
  ++events[static_cast<std::size_t>(kind)];
}

void FrameSummary::merge(const FrameSummary& other) noexcept {
  if (other.last_ns == 0) return;
  first_ns = first_ns == 0 ? other.first_ns : std::min(first_ns, other.first_ns);
  last_ns = std::max(last_ns, other.last_ns);
  for (std::size_t i = 0; i < events.size(); ++i) events[i] += other.events[i];
}

void Batches::begin_ring(std::uint32_t ring) {
  end_ring();
  ring_ = ring;
}

void Batches::add(const RecordHeader& record) {
  switch (record.kind) {
    case Kind::kNone:
    case Kind::kSkip:
    case Kind::kGroup:
    case Kind::kText:
    case Kind::kFact:
      return;
    case Kind::kAlloc:
    case Kind::kFree:
    case Kind::kAllocFailed:
      add_allocation(reinterpret_cast<const AllocRecord&>(record));
      break;
    case Kind::kCollective:
      add_collective(reinterpret_cast<const CollectiveRecord&>(record));
      break;
    case Kind::kCollectiveStart:
    case Kind::kCollectiveEnd:
    case Kind::kCollectiveReturn:
    case Kind::kWait:
    case Kind::kWaitEnd:
      add_mark(reinterpret_cast<const CollectiveMarkRecord&>(record));
      break;
    case Kind::kRangeBegin:
    case Kind::kRangeEnd:
      add_range(reinterpret_cast<const RangeRecord&>(record));
      break;
    case Kind::kStepBegin:
    case Kind::kStepEnd:
      add_step(reinterpret_cast<const StepRecord&>(record));
      break;
    case Kind::kStepGroup:
      add_step_group(reinterpret_cast<const StepGroupRecord&>(record));
      break;
    case Kind::kSample:
      add_sample(reinterpret_cast<const SampleRecord&>(record));
      break;
    case Kind::kComm:
      add_comm(reinterpret_cast<const CommRecord&>(record));
      break;
    case Kind::kDeviceWork:
      add_device_work(reinterpret_cast<const DeviceWorkRecord&>(record));
      break;
  }
  summary_.note(record.kind, record.time_ns);
}

FrameSummary Batches::append_to(MessageBuffer& out) {
  end_ring();
  out.insert(out.end(), messages_.begin(), messages_.end());
  messages_.clear();
  return std::exchange(summary_, {});
}

std::uint64_t Batches::mark_time(std::uint64_t time_ns) const noexcept {
  if (mark_times_ == MarkTimes::kExact) return time_ns;
  return (time_ns + kMarkGrainNs - 1) / kMarkGrainNs * kMarkGrainNs;
}

void Batches::end_ring() {
  if (allocations_.count != 0) write_allocations();
  if (collectives_.count != 0) write_collectives();
  if (marks_.count != 0) write_marks();
  if (ranges_.count != 0) write_ranges();
  if (steps_.count != 0) write_steps();
  if (step_groups_.count != 0) write_step_groups();
  if (samples_.count != 0) write_samples();
  if (comms_.count != 0) write_comms();
  if (device_works_.count != 0) write_device_works();
}

void Batches::add_allocation(const AllocRecord& r) {
  allocations_.kinds.push_back(static_cast<std::uint8_t>(r.header.kind));
  allocations_.columns[0].push_back(r.header.tag);
  allocations_.columns[1].push_back(r.header.time_ns);
  allocations_.columns[2].push_back(r.address);
  if (r.header.kind != Kind::kFree) allocations_.columns[3].push_back(r.size);
  ++allocations_.count;
}

void Batches::add_collective(const CollectiveRecord& r) {
  collectives_.add(r.header.kind,
                   {r.header.time_ns, r.header.tag, r.id, r.group, r.seq, r.count_in, r.count_out,
                    sign_extended(r.peer), sign_extended(r.tensor_tag), r.parent, r.buffer_in,
                    r.buffer_out - r.buffer_in, r.stream, r.tensors_in, r.tensors_out, r.splits_hash, r.site});
}

void Batches::add_mark(const CollectiveMarkRecord& r) {
  marks_.add(r.header.kind, {low_bits(r.header.tag, 0, 8), mark_time(r.header.time_ns), r.id, sign_extended(r.code)});
}

void Batches::add_range(const RangeRecord& r) {
  ranges_.add(r.header.kind, {r.header.depth, r.header.tag, r.header.time_ns, r.name, r.handle});
}

void Batches::add_step(const StepRecord& r) {
  steps_.add(r.header.kind, {r.header.depth, r.header.tag, r.header.time_ns, r.handle, r.name, r.optimizer, r.key});
}

void Batches::add_step_group(const StepGroupRecord& r) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  step_groups_.add(r.header.kind, {r.header.time_ns, r.header.tag, r.handle, r.optimizer, r.key, bits(r.lr),
                                   bits(r.weight_decay), bits(r.beta1), bits(r.beta2), bits(r.eps), bits(r.momentum),
                                   bits(r.step), r.params, r.params_with_grad, r.elements});
}

void Batches::add_sample(const SampleRecord& r) {
  samples_.add(r.header.kind, {r.header.tag, r.header.time_ns, sign_extended(r.value)});
}

void Batches::add_comm(const CommRecord& r) {
  comms_.add(r.header.kind, {low_bits(r.header.tag, 0, 8), r.header.time_ns, r.comm, r.parent, r.unique_id_hash,
                             sign_extended(r.rank), sign_extended(r.size), sign_extended(r.code), r.group});
}

void Batches::add_device_work(const DeviceWorkRecord& r) {
  device_works_.add(r.header.kind, {r.header.tag, r.header.time_ns, r.duration_ns, r.name, r.parent, r.bytes, r.stream,
                                    r.correlation});
}

}  // namespace plumbline::recorder
