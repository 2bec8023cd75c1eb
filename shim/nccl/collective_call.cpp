#include "shim/nccl/collective_call.hpp"

#include "recorder/recorder.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/current_call.hpp"
#include "shim/cuda/driver.hpp"
#include "shim/nccl/comms.hpp"
#include "shim/nccl/nccl_abi.hpp"
#include "shim/nccl/nccl_thread.hpp"
#include "shim/python/call_site.hpp"

namespace plumbline::shim::nccl {
namespace {

using recorder::CollectiveMarkRecord;
using recorder::CollectiveRecord;
using recorder::Kind;
using recorder::Outcome;

std::uint64_t parent_of(const void* frame) noexcept {
  return nccl_thread.group_call != 0 ? nccl_thread.group_call : enclosing_call(frame).collective;
}

std::uint64_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }

Outcome outcome_of(int code, bool captured) noexcept {
  if (code != kSuccess && code != kInProgress) return Outcome::kRaised;
  return captured ? Outcome::kCaptured : Outcome::kPending;
}

void push_return(std::uint64_t id, int code, bool captured) noexcept {
  const CollectiveMarkRecord mark{
      {recorder::now_ns(), Kind::kCollectiveReturn, recorder::slots_of<CollectiveMarkRecord>(), 0,
       static_cast<std::uint32_t>(outcome_of(code, captured))},
      id,
      code};
  recorder::push(mark.header);
}

// That work of the c10d call around is about to be put into a stream, or has been.
void tell_adapter(const void* frame, void* stream, bool done) noexcept {
  const std::uint64_t outer = enclosing_call(frame).collective;
  if (outer == 0) return;
  if (const PlumblineAdapter* adapter = loaded_adapter()) adapter->device_call(outer, stream, done);
}

}  // namespace

CallTicket begin_collective(const NcclCall& call, const void* frame) noexcept {
  const CallTicket ticket{recorder::next_id(), cuda::is_capturing(call.stream)};
  if (ticket.captured) nccl_thread.group_captured = true;
  Comm* comm = known_comm(call.comm);
  const std::int32_t rank = comm == nullptr ? -1 : comm->rank;
  const Counts counts = counts_of(call, rank, comm == nullptr ? 0 : comm->size);

  CollectiveRecord record{};
  record.header = {
      recorder::now_ns(), Kind::kCollective, recorder::slots_of<CollectiveRecord>(), 0,
      recorder::collective_tag(call.op, reduce_op_of(call.reduce), dtype_of(call.datatype), recorder::Layer::kNccl)};
  record.id = ticket.id;
  record.parent = parent_of(frame);
  if (record.parent == 0) record.site = python::call_site();
  record.count_in = counts.in;
  record.count_out = counts.out;
  record.peer = call.peer;
  record.buffer_in = address_of(call.send);
  record.buffer_out = address_of(call.recv);
  record.stream = address_of(call.stream);
  record.tensors_in = call.send != nullptr;
  record.tensors_out = call.recv != nullptr;
  if (comm != nullptr) {
    record.group = comm->group;
    auto& calls = is_point_to_point(call.op) ? comm->point_to_point : comm->collectives;
    record.seq = calls.fetch_add(1, std::memory_order_relaxed);
  }
  recorder::push(record.header);
  if (!ticket.captured) tell_adapter(frame, call.stream, false);
  return ticket;
}

void end_collective(const CallTicket& ticket, int code, const void* frame) noexcept {
  if (ticket.id == 0) return;
  push_return(ticket.id, code, ticket.captured);
  if (nccl_thread.group_depth == 0 && code == kSuccess && !ticket.captured) tell_adapter(frame, nullptr, true);
}

void begin_group(bool record_it, const void* frame) noexcept {
  NcclThread& thread = nccl_thread;
  if (thread.group_depth++ != 0) return;
  thread.group_captured = false;
  thread.group_call = 0;
  if (!record_it) return;
  CollectiveRecord record{};
  record.id = recorder::next_id();
  record.parent = parent_of(frame);
  record.header = {recorder::now_ns(), Kind::kCollective, recorder::slots_of<CollectiveRecord>(), 0,
                   recorder::collective_tag(recorder::Op::kGroupCall, recorder::ReduceOp::kNone,
                                            recorder::Dtype::kUnknown, recorder::Layer::kNccl)};
  record.peer = -1;
  if (record.parent == 0) record.site = python::call_site();
  recorder::push(record.header);
  thread.group_call = record.id;
}

bool end_group(int code, const void* frame) noexcept {
  NcclThread& thread = nccl_thread;
  if (thread.group_depth == 0 || --thread.group_depth != 0) return false;
  if (thread.group_call != 0) {
    push_return(thread.group_call, code, thread.group_captured);
    if (code == kSuccess && !thread.group_captured) tell_adapter(frame, nullptr, true);
  }
  thread.group_call = 0;
  return true;
}

}  // namespace plumbline::shim::nccl
