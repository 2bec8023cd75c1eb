#include "reader/ring_events.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "reader/definition_reader.hpp"
#include "recorder/record_bytes.hpp"

namespace plumbline::reader {
namespace {

using recorder::kSlotBytes;
using recorder::RecordHeader;

template <class Record>
Record record_at(const std::byte* bytes) {
  Record record;
  std::memcpy(&record, bytes, sizeof record);
  return record;
}

// The text behind a record; well_formed() has seen to it that it lies within the record's slots.
template <class Record>
std::string_view text_after(const std::byte* bytes, const Record& record) {
  return {reinterpret_cast<const char*>(bytes) + sizeof(Record), record.header.tag};
}

// Cuts the part up to the next NUL off the front.
std::string take_part(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  std::string part(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t extend(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void define_group(const std::byte* bytes, Definitions& definitions) {
  const auto record = record_at<recorder::GroupRecord>(bytes);
  std::string_view text = text_after(bytes, record);
  Group group;
  group.id = record.group;
  group.name = take_part(text);
  group.description = take_part(text);
  group.backend = take_part(text);
  group.pointer = record.pointer;
  group.rank = record.rank;
  group.size = record.size;
  group.ranks = parse_ranks(text);
  group.time_ns = record.header.time_ns;
  definitions.add_group(std::move(group));
}

void define_fact(const std::byte* bytes, Definitions& definitions) {
  const auto record = record_at<recorder::FactRecord>(bytes);
  const std::string_view text = text_after(bytes, record);
  const std::size_t equals = std::min(text.find('='), text.size());
  definitions.add_fact(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
}

void define_text(const std::byte* bytes, Definitions& definitions) {
  const auto record = record_at<recorder::TextRecord>(bytes);
  definitions.add_text(record.id, text_after(bytes, record));
}

// Points the columns of a batch at rows, in the order of the columns.
template <class Rows, class Batch, class... Columns>
void point(const Rows& rows, Batch& batch, Columns&... columns) {
  static_assert(sizeof...(columns) == std::tuple_size_v<decltype(rows.columns)>);
  batch.count = rows.columns[0].size();
  std::size_t i = 0;
  ((columns = rows.columns[i++]), ...);
}

}  // namespace

template <std::size_t kColumns>
void RingEvents::Rows<kColumns>::put(std::array<std::uint64_t, kColumns> values) {
  for (std::size_t i = 0; i < kColumns; ++i) columns[i].push_back(values[i]);
}

RingEvents RingEvents::take(const RingSnapshot& snapshot, const std::map<std::uint32_t, RingProgress>& progress,
                            Definitions& definitions) {
  RingEvents events;
  for (const RingSnapshot::Ring& ring : snapshot.rings()) {
    const auto it = progress.find(ring.number);
    const RingProgress done = it == progress.end() ? RingProgress{} : it->second;
    definitions.add_thread({ring.number, ring.generation, ring.tid, ring.thread_name});
    std::uint64_t from = ring.first;
    if (done.generation > ring.generation)
      from = ring.head;  // a later owner's events are in the trace, so this one's are too
    else if (done.generation == ring.generation)
      from = std::clamp(done.head, ring.first, ring.head);
    events.duplicate_slots_ += from - ring.first;
    events.take_ring(ring, from, definitions);
  }
  return events;
}

void RingEvents::take_ring(const RingSnapshot::Ring& ring, std::uint64_t from, Definitions& definitions) {
  auto rows = std::make_unique<RingRows>();
  std::uint64_t at = from - ring.first;
  const std::uint64_t end = ring.head - ring.first;
  while (at < end) {
    const std::byte* const bytes = ring.slots.data() + at * kSlotBytes;
    const auto header = record_at<RecordHeader>(bytes);
    const bool skip = header.kind == Kind::kSkip;
    if (header.slots == 0 || header.slots > end - at || (!skip && !recorder::well_formed(header))) {
      ++damaged_;
      break;
    }
    if (!skip) take_record(header, bytes, *rows, definitions);
    at += header.slots;
  }
  add_batches(ring, *rows);
  rows_.push_back(std::move(rows));
}

void RingEvents::take_record(const RecordHeader& header, const std::byte* bytes, RingRows& rows,
                             Definitions& definitions) {
  const std::uint64_t time = header.time_ns;
  const std::uint64_t tag = header.tag;
  const auto kind = static_cast<std::uint8_t>(header.kind);
  ++records_;
  switch (header.kind) {
    case Kind::kNone:
    case Kind::kSkip:
      return;
    case Kind::kAlloc:
    case Kind::kFree:
    case Kind::kAllocFailed: {
      const auto r = record_at<recorder::AllocRecord>(bytes);
      rows.allocations.kind.push_back(kind);
      rows.allocations.put({time, tag, r.address, header.kind == Kind::kFree ? 0 : r.size});
      break;
    }
    case Kind::kCollective: {
      const auto r = record_at<recorder::CollectiveRecord>(bytes);
      rows.collectives.put({time, tag, r.id, r.group, r.seq, r.count_in, r.count_out, extend(r.peer),
                            extend(r.tensor_tag), r.parent, r.buffer_in, r.buffer_out, r.stream, r.tensors_in,
                            r.tensors_out, r.splits_hash, r.site});
      break;
    }
    case Kind::kCollectiveStart:
    case Kind::kCollectiveEnd:
    case Kind::kCollectiveReturn:
    case Kind::kWait:
    case Kind::kWaitEnd: {
      const auto r = record_at<recorder::CollectiveMarkRecord>(bytes);
      rows.marks.kind.push_back(kind);
      rows.marks.put({time, tag & 0xff, r.id, extend(r.code)});
      break;
    }
    case Kind::kRangeBegin:
    case Kind::kRangeEnd: {
      const auto r = record_at<recorder::RangeRecord>(bytes);
      rows.ranges.kind.push_back(kind);
      rows.ranges.put({time, header.depth, tag, r.name, r.handle});
      break;
    }
    case Kind::kStepBegin:
    case Kind::kStepEnd: {
      const auto r = record_at<recorder::StepRecord>(bytes);
      rows.steps.kind.push_back(kind);
      rows.steps.put({time, header.depth, tag, r.handle, r.name, r.optimizer, r.key});
      break;
    }
    case Kind::kStepGroup: {
      const auto r = record_at<recorder::StepGroupRecord>(bytes);
      rows.step_groups.put({time, tag, r.handle, r.optimizer, r.key, bits(r.lr), bits(r.weight_decay), bits(r.beta1),
                            bits(r.beta2), bits(r.eps), bits(r.momentum), bits(r.step), r.params, r.params_with_grad,
                            r.elements});
      break;
    }
    case Kind::kSample: {
      const auto r = record_at<recorder::SampleRecord>(bytes);
      rows.samples.put({time, tag, extend(r.value)});
      break;
    }
    case Kind::kComm: {
      const auto r = record_at<recorder::CommRecord>(bytes);
      rows.comms.put({time, tag & 0xff, r.comm, r.parent, r.unique_id_hash, extend(r.rank), extend(r.size),
                      extend(r.code), r.group});
      break;
    }
    case Kind::kDeviceWork: {
      const auto r = record_at<recorder::DeviceWorkRecord>(bytes);
      rows.device_works.put({time, tag, r.duration_ns, r.name, r.parent, r.bytes, r.stream, r.correlation});
      break;
    }
    case Kind::kGroup:
      define_group(bytes, definitions);
      break;
    case Kind::kText:
      define_text(bytes, definitions);
      break;
    case Kind::kFact:
      define_fact(bytes, definitions);
      break;
  }
}

void RingEvents::add_batches(const RingSnapshot::Ring& ring, const RingRows& rows) {
  const auto add = [&](auto& to, const auto& from, auto&& fill) {
    if (from.columns[0].empty()) return;
    auto& batch = to.emplace_back();
    batch.ring = ring.number;
    batch.generation = ring.generation;
    batch.place.from_ring = true;
    fill(batch);
    span_.add(span_of(batch.time_ns));
  };
  add(batches_.allocations, rows.allocations, [&](AllocationBatch& b) {
    b.kind = rows.allocations.kind;
    point(rows.allocations, b, b.time_ns, b.tag, b.address, b.size);
  });
  add(batches_.collectives, rows.collectives, [&](CollectiveBatch& b) {
    point(rows.collectives, b, b.time_ns, b.tag, b.id, b.group, b.seq, b.count_in, b.count_out, b.peer, b.tensor_tag,
          b.parent, b.buffer_in, b.buffer_out, b.stream, b.tensors_in, b.tensors_out, b.splits_hash, b.site);
  });
  add(batches_.marks, rows.marks, [&](MarkBatch& b) {
    b.kind = rows.marks.kind;
    point(rows.marks, b, b.time_ns, b.outcome, b.id, b.code);
  });
  add(batches_.ranges, rows.ranges, [&](RangeBatch& b) {
    b.kind = rows.ranges.kind;
    point(rows.ranges, b, b.time_ns, b.depth, b.scope, b.name, b.handle);
  });
  add(batches_.steps, rows.steps, [&](StepBatch& b) {
    b.kind = rows.steps.kind;
    point(rows.steps, b, b.time_ns, b.depth, b.raised, b.handle, b.name, b.optimizer, b.key);
  });
  add(batches_.step_groups, rows.step_groups, [&](StepGroupBatch& b) {
    point(rows.step_groups, b, b.time_ns, b.tag, b.handle, b.optimizer, b.key, b.lr, b.weight_decay, b.beta1, b.beta2,
          b.eps, b.momentum, b.step, b.params, b.params_with_grad, b.elements);
  });
  add(batches_.samples, rows.samples, [&](SampleBatch& b) { point(rows.samples, b, b.time_ns, b.counter, b.value); });
  add(batches_.comms, rows.comms, [&](CommBatch& b) {
    point(rows.comms, b, b.time_ns, b.event, b.comm, b.parent, b.unique_id_hash, b.rank, b.size, b.code, b.group);
  });
  add(batches_.device_works, rows.device_works, [&](DeviceWorkBatch& b) {
    point(rows.device_works, b, b.time_ns, b.tag, b.duration_ns, b.name, b.parent, b.bytes, b.stream, b.correlation);
  });
}

BatchSet RingEvents::select(const Query& query) const {
  BatchSet chosen = batches_;
  BatchSet::for_each_type(chosen, [&](auto& batches, Kinds type) {
    std::erase_if(batches, [&](const auto& batch) {
      return (query.kinds & type) == 0 || !span_of(batch.time_ns).overlaps(query);
    });
  });
  return chosen;
}

}  // namespace plumbline::reader
