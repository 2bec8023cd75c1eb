#include "tools/run_reader/event_json.hpp"

#include "reader/names.hpp"

namespace plumbline::tools {
namespace {

using reader::name_of;
using recorder::Kind;

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Zero stands for "none" or "not known" in these fields, and is then left out.
void hex_if(JsonLine& line, std::string_view key, std::uint64_t value) {
  if (value != 0) line.hex(key, value);
}

void add(JsonLine& line, const reader::Trace&, const reader::AllocationBatch& batch, std::size_t row) {
  line.text("source", name_of(recorder::source_of(static_cast<std::uint32_t>(batch.tag[row]))));
  const int device = recorder::device_of(static_cast<std::uint32_t>(batch.tag[row]));
  if (device >= 0) line.number("device", device);
  hex_if(line, "address", batch.address[row]);
  if (static_cast<Kind>(batch.kind[row]) != Kind::kFree) line.number("size", batch.size[row]);
}

void add(JsonLine& line, const reader::Trace& trace, const reader::CollectiveBatch& batch, std::size_t row) {
  const std::uint64_t tag = batch.tag[row];
  line.number("id", batch.id[row]);
  line.text("layer", name_of(reader::layer_of(tag)));
  line.text("op", name_of(reader::op_of(tag)));
  line.text_if("reduce_op", name_of(reader::reduce_op_of(tag)));
  line.text("dtype", name_of(reader::dtype_of(tag)));
  hex_if(line, "group", batch.group[row]);
  if (const reader::Group* group = trace.group(batch.group[row])) line.text("group_name", group->name);
  line.number("seq", batch.seq[row]);
  line.number("count_in", batch.count_in[row]).number("count_out", batch.count_out[row]);
  line.number("tensors_in", batch.tensors_in[row]).number("tensors_out", batch.tensors_out[row]);
  if (signed_of(batch.peer[row]) >= 0) line.number("peer", signed_of(batch.peer[row]));
  if (batch.tensor_tag[row] != 0) line.number("tag", signed_of(batch.tensor_tag[row]));
  if (batch.parent[row] != 0) line.number("parent", batch.parent[row]);
  hex_if(line, "buffer_in", batch.buffer_in[row]);
  hex_if(line, "buffer_out", batch.buffer_out[row]);
  hex_if(line, "stream", batch.stream[row]);
  hex_if(line, "splits_hash", batch.splits_hash[row]);
  if (batch.site[row] != 0) line.text("site", trace.text(batch.site[row]));
}

void add(JsonLine& line, const reader::Trace&, const reader::MarkBatch& batch, std::size_t row) {
  line.number("id", batch.id[row]);
  const auto kind = static_cast<Kind>(batch.kind[row]);
  const auto outcome = static_cast<recorder::Outcome>(batch.outcome[row]);
  if (kind == Kind::kCollectiveEnd || outcome != recorder::Outcome::kPending) line.text("outcome", name_of(outcome));
  if (kind == Kind::kCollectiveReturn || batch.code[row] != 0) line.number("code", signed_of(batch.code[row]));
}

void add(JsonLine& line, const reader::Trace& trace, const reader::RangeBatch& batch, std::size_t row) {
  line.text("name", trace.text(batch.name[row]));
  line.number("handle", batch.handle[row]).number("depth", batch.depth[row]).number("scope", batch.scope[row]);
}

void add(JsonLine& line, const reader::Trace& trace, const reader::StepBatch& batch, std::size_t row) {
  line.text("optimizer_class", trace.text(batch.name[row]));
  line.number("handle", batch.handle[row]).number("depth", batch.depth[row]);
  hex_if(line, "optimizer", batch.optimizer[row]);
  hex_if(line, "key", batch.key[row]);
  if (static_cast<Kind>(batch.kind[row]) == Kind::kStepEnd) line.boolean("raised", batch.raised[row] != 0);
}

void add(JsonLine& line, const reader::Trace&, const reader::StepGroupBatch& batch, std::size_t row) {
  line.number("handle", batch.handle[row]);
  line.number("index", batch.tag[row] & 0xffff).number("groups", batch.tag[row] >> 16 & 0xffff);
  hex_if(line, "optimizer", batch.optimizer[row]);
  hex_if(line, "key", batch.key[row]);
  line.real("lr", reader::as_double(batch.lr[row]));
  line.real("weight_decay", reader::as_double(batch.weight_decay[row]));
  line.real("beta1", reader::as_double(batch.beta1[row]));
  line.real("beta2", reader::as_double(batch.beta2[row]));
  line.real("eps", reader::as_double(batch.eps[row]));
  line.real("momentum", reader::as_double(batch.momentum[row]));
  line.real("optimizer_step", reader::as_double(batch.step[row]));
  line.number("params", batch.params[row]).number("params_with_grad", batch.params_with_grad[row]);
  line.number("elements", batch.elements[row]);
}

void add(JsonLine& line, const reader::Trace&, const reader::SampleBatch& batch, std::size_t row) {
  line.text("counter", name_of(static_cast<recorder::Counter>(batch.counter[row])));
  line.number("value", signed_of(batch.value[row]));
}

void add(JsonLine& line, const reader::Trace& trace, const reader::CommBatch& batch, std::size_t row) {
  line.text("event", name_of(static_cast<recorder::CommEvent>(batch.event[row])));
  hex_if(line, "comm", batch.comm[row]);
  hex_if(line, "parent", batch.parent[row]);
  hex_if(line, "unique_id_hash", batch.unique_id_hash[row]);
  line.number("comm_rank", signed_of(batch.rank[row])).number("size", signed_of(batch.size[row]));
  line.number("code", signed_of(batch.code[row]));
  hex_if(line, "group", batch.group[row]);
  if (const reader::Group* group = trace.group(batch.group[row])) line.text("group_name", group->name);
}

void add(JsonLine& line, const reader::Trace& trace, const reader::DeviceWorkBatch& batch, std::size_t row) {
  line.text("work", name_of(reader::device_work_of(batch.tag[row])));
  line.text("name", trace.text(batch.name[row])).number("duration_ns", batch.duration_ns[row]);
  line.number("device", reader::device_of_work(batch.tag[row])).number("stream", batch.stream[row]);
  line.number("bytes", batch.bytes[row]).number("parent", batch.parent[row]);
  line.number("correlation", batch.correlation[row]);
}

}  // namespace

Kind kind_of(const reader::FrameView& frame, const reader::Row& row) {
  switch (row.type) {
    case reader::kAllocations:
      return static_cast<Kind>(frame.allocations[row.batch].kind[row.row]);
    case reader::kCollectives:
      return Kind::kCollective;
    case reader::kMarks:
      return static_cast<Kind>(frame.marks[row.batch].kind[row.row]);
    case reader::kRanges:
      return static_cast<Kind>(frame.ranges[row.batch].kind[row.row]);
    case reader::kSteps:
      return static_cast<Kind>(frame.steps[row.batch].kind[row.row]);
    case reader::kStepGroups:
      return Kind::kStepGroup;
    case reader::kSamples:
      return Kind::kSample;
    case reader::kComms:
      return Kind::kComm;
    case reader::kDeviceWorks:
      return Kind::kDeviceWork;
    default:
      return Kind::kNone;
  }
}

void add_event(JsonLine& line, const reader::Trace& trace, const reader::FrameView& frame, const reader::Row& row) {
  line.text("kind", name_of(kind_of(frame, row)));
  switch (row.type) {
    case reader::kAllocations:
      return add(line, trace, frame.allocations[row.batch], row.row);
    case reader::kCollectives:
      return add(line, trace, frame.collectives[row.batch], row.row);
    case reader::kMarks:
      return add(line, trace, frame.marks[row.batch], row.row);
    case reader::kRanges:
      return add(line, trace, frame.ranges[row.batch], row.row);
    case reader::kSteps:
      return add(line, trace, frame.steps[row.batch], row.row);
    case reader::kStepGroups:
      return add(line, trace, frame.step_groups[row.batch], row.row);
    case reader::kSamples:
      return add(line, trace, frame.samples[row.batch], row.row);
    case reader::kComms:
      return add(line, trace, frame.comms[row.batch], row.row);
    case reader::kDeviceWorks:
      return add(line, trace, frame.device_works[row.batch], row.row);
    default:
      return;
  }
}

}  // namespace plumbline::tools
