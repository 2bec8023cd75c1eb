#include "tools/run_reader/event_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "checks/call_text.hpp"
#include "reader/names.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using reader::name_of;
using recorder::Kind;

std::string words(const reader::Trace&, const reader::AllocationBatch& batch, std::size_t row) {
  const auto tag = static_cast<std::uint32_t>(batch.tag[row]);
  std::string text(name_of(recorder::source_of(tag)));
  if (recorder::device_of(tag) >= 0) text += fmt::format(" device {}", recorder::device_of(tag));
  if (static_cast<Kind>(batch.kind[row]) != Kind::kFree) text += fmt::format(" {}", bytes_text(batch.size[row]));
  if (batch.address[row] != 0) text += fmt::format(" at {:#x}", batch.address[row]);
  return text;
}

std::string words(const reader::Trace& trace, const reader::CollectiveBatch& batch, std::size_t row) {
  reader::Collective call;
  call.op = reader::op_of(batch.tag[row]);
  call.reduce_op = reader::reduce_op_of(batch.tag[row]);
  call.dtype = reader::dtype_of(batch.tag[row]);
  call.seq = batch.seq[row];
  call.count_in = batch.count_in[row];
  call.count_out = batch.count_out[row];
  const reader::Group* group = trace.group(batch.group[row]);
  std::string text = fmt::format("{}, {}, call {}", checks::call_text(call),
                                 group ? checks::group_name(*group) : "group not known", batch.id[row]);
  const auto peer = static_cast<std::int64_t>(batch.peer[row]);
  if (peer >= 0) {
    const int global = group ? group->global_rank(static_cast<int>(peer)) : -1;
    text +=
        fmt::format(", {} rank {}", reader::is_point_to_point(call.op) ? "peer" : "root", global < 0 ? peer : global);
  }
  if (reader::layer_of(batch.tag[row]) == reader::Layer::kNccl) text += ", NCCL call";
  if (batch.parent[row] != 0) text += fmt::format(", inside call {}", batch.parent[row]);
  if (batch.site[row] != 0) text += fmt::format(", at {}", trace.text(batch.site[row]));
  return text;
}

std::string words(const reader::Trace&, const reader::MarkBatch& batch, std::size_t row) {
  std::string text = fmt::format("call {}", batch.id[row]);
  if (static_cast<Kind>(batch.kind[row]) == Kind::kCollectiveEnd) {
    text += fmt::format(", {}", name_of(static_cast<recorder::Outcome>(batch.outcome[row])));
  }
  if (const auto code = static_cast<std::int64_t>(batch.code[row]); code != 0) text += fmt::format(", code {}", code);
  return text;
}

std::string words(const reader::Trace& trace, const reader::RangeBatch& batch, std::size_t row) {
  return std::string(2 * std::min<std::size_t>(batch.depth[row], 8), ' ') + std::string(trace.text(batch.name[row]));
}

std::string words(const reader::Trace& trace, const reader::StepBatch& batch, std::size_t row) {
  std::string text(trace.text(batch.name[row]));
  if (batch.depth[row] > 0) text += fmt::format(", nested {} deep", batch.depth[row]);
  if (batch.raised[row] != 0) text += ", raised an exception";
  return text;
}

std::string words(const reader::Trace&, const reader::StepGroupBatch& batch, std::size_t row) {
  std::string text = fmt::format("param group {} of {}", batch.tag[row] & 0xffff, batch.tag[row] >> 16 & 0xffff);
  const auto add = [&](std::string_view name, std::uint64_t bits) {
    const double value = reader::as_double(bits);
    if (!std::isnan(value)) text += fmt::format(", {} {:g}", name, value);
  };
  add("lr", batch.lr[row]);
  add("weight decay", batch.weight_decay[row]);
  add("momentum", batch.momentum[row]);
  add("its step", batch.step[row]);
  return text + fmt::format(", {} of {} parameters with gradient", batch.params_with_grad[row], batch.params[row]);
}

std::string words(const reader::Trace&, const reader::SampleBatch& batch, std::size_t row) {
  const auto counter = static_cast<recorder::Counter>(batch.counter[row]);
  const std::string_view name = name_of(counter);
  if (counter == recorder::Counter::kGarbageCollectionNs)
    return "garbage collection took " + duration_text(batch.value[row]);
  if (counter == recorder::Counter::kProcessorWaitNs)
    return fmt::format("the training thread has waited {} for a processor", duration_text(batch.value[row]));
  if (!name.ends_with("_bytes")) return fmt::format("{} {}", name, batch.value[row]);
  return fmt::format("{} {}", name, bytes_text(batch.value[row]));
}

std::string words(const reader::Trace&, const reader::CommBatch& batch, std::size_t row) {
  return fmt::format("{} {:#x}, rank {} of {}, code {}", name_of(static_cast<recorder::CommEvent>(batch.event[row])),
                     batch.comm[row], static_cast<std::int64_t>(batch.rank[row]),
                     static_cast<std::int64_t>(batch.size[row]), static_cast<std::int64_t>(batch.code[row]));
}

std::string words(const reader::Trace& trace, const reader::DeviceWorkBatch& batch, std::size_t row) {
  const std::uint64_t tag = batch.tag[row];
  std::string text = fmt::format("{} {}, {} on device {}, stream {}", name_of(reader::device_work_of(tag)),
                                 trace.text(batch.name[row]), duration_text(batch.duration_ns[row]),
                                 reader::device_of_work(tag), batch.stream[row]);
  if (batch.bytes[row] != 0) text += ", " + bytes_text(batch.bytes[row]);
  return text;
}

}  // namespace

std::string event_text(const reader::Trace& trace, const reader::FrameView& frame, const reader::Row& row) {
  switch (row.type) {
    case reader::kAllocations:
      return words(trace, frame.allocations[row.batch], row.row);
    case reader::kCollectives:
      return words(trace, frame.collectives[row.batch], row.row);
    case reader::kMarks:
      return words(trace, frame.marks[row.batch], row.row);
    case reader::kRanges:
      return words(trace, frame.ranges[row.batch], row.row);
    case reader::kSteps:
      return words(trace, frame.steps[row.batch], row.row);
    case reader::kStepGroups:
      return words(trace, frame.step_groups[row.batch], row.row);
    case reader::kSamples:
      return words(trace, frame.samples[row.batch], row.row);
    case reader::kComms:
      return words(trace, frame.comms[row.batch], row.row);
    case reader::kDeviceWorks:
      return words(trace, frame.device_works[row.batch], row.row);
    default:
      return {};
  }
}

}  // namespace plumbline::tools
