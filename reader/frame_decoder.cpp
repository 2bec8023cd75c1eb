#include "reader/frame_decoder.hpp"

#include <algorithm>

#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

// A row takes at least a byte of its message, except in a batch of a few equal rows. So a small hostile message cannot
// ask for gigabytes.
constexpr std::size_t kFreeRows = 256;

// Decodes one column after the other into the arena and remembers whether all were good.
struct Columns {
  ColumnArena& arena;
  std::size_t count;
  bool good = true;

  Column operator()(const trace::Column* column) {
    std::uint64_t* const to = good ? arena.take(count) : nullptr;
    good = to != nullptr && decode_column(column, {to, count});
    return good ? Column(to, count) : Column();
  }

  // A column that is stored as its difference to another.
  Column on_top_of(Column base, const trace::Column* column) {
    std::uint64_t* const to = good ? arena.take(count) : nullptr;
    good = to != nullptr && decode_column(column, {to, count});
    if (!good) return {};
    for (std::size_t i = 0; i < count; ++i) to[i] += base[i];
    return {to, count};
  }

  Bytes kinds(const flatbuffers::Vector<std::uint8_t>* kinds) {
    good = good && (kinds != nullptr ? kinds->size() == count : count == 0);
    return good && count != 0 ? Bytes(kinds->data(), count) : Bytes();
  }

  // Sizes are stored of allocations and failures only: they are decoded to the end of the column and moved into place
  // from the front; the place never overtakes the value.
  Column sizes(const trace::Column* column, Bytes kinds) {
    const auto frees = std::count(kinds.begin(), kinds.end(), static_cast<std::uint8_t>(Kind::kFree));
    if (frees == 0) return (*this)(column);
    std::uint64_t* const to = good ? arena.take(count) : nullptr;
    const std::size_t stored = count - static_cast<std::size_t>(frees);
    good = to != nullptr && decode_column(column, {to + (count - stored), stored});
    if (!good) return {};
    const std::uint64_t* from = to + (count - stored);
    for (std::size_t i = 0; i < count; ++i) to[i] = kinds[i] == static_cast<std::uint8_t>(Kind::kFree) ? 0 : *from++;
    return {to, count};
  }
};

}  // namespace

void DecodedFrame::clear() {
  arena_.reset();
  batches_.clear();
  kinds_ = 0;
  span_ = {};
  rows_ = 0;
}

template <class Batch, class Table, class Fill>
DecodedFrame::Taken DecodedFrame::add_batch(std::vector<Batch>& to, Kinds type, const Table& table,
                                            const Request& request, Fill&& fill) {
  const std::size_t count = table.count();
  if (count > request.message_bytes + kFreeRows) return Taken::kMalformed;
  const bool wanted = (request.query.kinds & type) != 0;
  if (!wanted && !request.times) {
    kinds_ |= type;
    return Taken::kNotWanted;
  }
  Columns columns{arena_, count};
  Batch batch;
  batch.ring = table.ring();
  batch.count = count;
  batch.place = request.place;
  batch.time_ns = columns(table.time_ns());
  if (!columns.good) return Taken::kMalformed;
  kinds_ |= type;
  rows_ += count;
  const TimeSpan span = span_of(batch.time_ns);
  span_.add(span);
  if (!wanted || !span.overlaps(request.query)) return Taken::kNotWanted;
  fill(batch, columns);
  if (!columns.good) return Taken::kMalformed;
  to.push_back(batch);
  return Taken::kBatch;
}

DecodedFrame::Taken DecodedFrame::add(const trace::Message& message, std::size_t message_bytes, const Query& query,
                                      bool times, Place place) {
  const Request request{message_bytes, query, times, place};
  switch (message.body_type()) {
    case trace::Body::Allocations: {
      const trace::Allocations& t = *message.body_as_Allocations();
      return add_batch(batches_.allocations, kAllocations, t, request, [&](AllocationBatch& b, Columns& columns) {
        b.kind = columns.kinds(t.kind());
        b.tag = columns(t.tag());
        b.address = columns(t.address());
        b.size = columns.sizes(t.size(), b.kind);
      });
    }
    case trace::Body::Collectives: {
      const trace::Collectives& t = *message.body_as_Collectives();
      return add_batch(batches_.collectives, kCollectives, t, request, [&](CollectiveBatch& b, Columns& columns) {
        b.tag = columns(t.tag());
        b.id = columns(t.id());
        b.group = columns(t.group());
        b.seq = columns(t.seq());
        b.count_in = columns(t.count_in());
        b.count_out = columns(t.count_out());
        b.peer = columns(t.peer());
        b.tensor_tag = columns(t.tensor_tag());
        b.parent = columns(t.parent());
        b.buffer_in = columns(t.buffer_in());
        b.buffer_out = columns.on_top_of(b.buffer_in, t.buffer_out());
        b.stream = columns(t.stream());
        b.tensors_in = columns(t.tensors_in());
        b.tensors_out = columns(t.tensors_out());
        b.splits_hash = columns(t.splits_hash());
        b.site = columns(t.site());
      });
    }
    case trace::Body::CollectiveMarks: {
      const trace::CollectiveMarks& t = *message.body_as_CollectiveMarks();
      return add_batch(batches_.marks, kMarks, t, request, [&](MarkBatch& b, Columns& columns) {
        b.kind = columns.kinds(t.kind());
        b.outcome = columns(t.outcome());
        b.id = columns(t.id());
        b.code = columns(t.code());
      });
    }
    case trace::Body::Ranges: {
      const trace::Ranges& t = *message.body_as_Ranges();
      return add_batch(batches_.ranges, kRanges, t, request, [&](RangeBatch& b, Columns& columns) {
        b.kind = columns.kinds(t.kind());
        b.depth = columns(t.depth());
        b.scope = columns(t.scope());
        b.name = columns(t.name());
        b.handle = columns(t.handle());
      });
    }
    case trace::Body::Steps: {
      const trace::Steps& t = *message.body_as_Steps();
      return add_batch(batches_.steps, kSteps, t, request, [&](StepBatch& b, Columns& columns) {
        b.kind = columns.kinds(t.kind());
        b.depth = columns(t.depth());
        b.raised = columns(t.raised());
        b.handle = columns(t.handle());
        b.name = columns(t.name());
        b.optimizer = columns(t.optimizer());
        b.key = columns(t.key());
      });
    }
    case trace::Body::StepGroups: {
      const trace::StepGroups& t = *message.body_as_StepGroups();
      return add_batch(batches_.step_groups, kStepGroups, t, request, [&](StepGroupBatch& b, Columns& columns) {
        b.tag = columns(t.tag());
        b.handle = columns(t.handle());
        b.optimizer = columns(t.optimizer());
        b.key = columns(t.key());
        b.lr = columns(t.lr());
        b.weight_decay = columns(t.weight_decay());
        b.beta1 = columns(t.beta1());
        b.beta2 = columns(t.beta2());
        b.eps = columns(t.eps());
        b.momentum = columns(t.momentum());
        b.step = columns(t.step());
        b.params = columns(t.params());
        b.params_with_grad = columns(t.params_with_grad());
        b.elements = columns(t.elements());
      });
    }
    case trace::Body::Samples: {
      const trace::Samples& t = *message.body_as_Samples();
      return add_batch(batches_.samples, kSamples, t, request, [&](SampleBatch& b, Columns& columns) {
        b.counter = columns(t.counter());
        b.value = columns(t.value());
      });
    }
    case trace::Body::Comms: {
      const trace::Comms& t = *message.body_as_Comms();
      return add_batch(batches_.comms, kComms, t, request, [&](CommBatch& b, Columns& columns) {
        b.event = columns(t.event());
        b.comm = columns(t.comm());
        b.parent = columns(t.parent());
        b.unique_id_hash = columns(t.unique_id_hash());
        b.rank = columns(t.rank());
        b.size = columns(t.size());
        b.code = columns(t.code());
        b.group = columns(t.group());
      });
    }
    case trace::Body::DeviceWorks: {
      const trace::DeviceWorks& t = *message.body_as_DeviceWorks();
      return add_batch(batches_.device_works, kDeviceWorks, t, request, [&](DeviceWorkBatch& b, Columns& columns) {
        b.tag = columns(t.tag());
        b.duration_ns = columns(t.duration_ns());
        b.name = columns(t.name());
        b.parent = columns(t.parent());
        b.bytes = columns(t.bytes());
        b.stream = columns(t.stream());
        b.correlation = columns(t.correlation());
      });
    }
    default:
      return Taken::kNotEvents;
  }
}

}  // namespace plumbline::reader
