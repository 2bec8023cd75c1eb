// One NCCL call that moves data, from its arguments to its records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim::nccl {

// The arguments by meaning; what a function does not have keeps its default.
struct NcclCall {
  recorder::Op op;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;  // as NCCL takes it: per rank, whole, or per pair, see counts_of
  int datatype = -1;
  int reduce = -1;
  int peer = -1;  // or root
  void* comm = nullptr;
  void* stream = nullptr;
};

struct Counts {
  std::uint64_t in;   // elements that this rank puts in
  std::uint64_t out;  // elements that this rank gets out
};

// A root of a rooted operation puts in or gets out alone; a broadcast comes out on every rank, the root too. An unknown
// communicator has size 0, and then only what needs no size is counted.
constexpr Counts counts_of(const NcclCall& call, std::int32_t rank, std::int32_t size) noexcept {
  using recorder::Op;
  const std::uint64_t count = call.count;
  const std::uint64_t whole = count * static_cast<std::uint64_t>(size);
  const bool root = call.peer == rank;
  switch (call.op) {
    case Op::kReduce:
      return {count, root ? count : 0};
    case Op::kBroadcast:
      return {root ? count : 0, count};
    case Op::kAllGather:
      return {count, whole};
    case Op::kReduceScatter:
      return {whole, count};
    case Op::kAllToAll:
      return {whole, whole};
    case Op::kGather:
      return {count, root ? whole : 0};
    case Op::kScatter:
      return {root ? whole : 0, count};
    case Op::kSend:
      return {count, 0};
    case Op::kRecv:
      return {0, count};
    default:
      return {count, count};
  }
}

constexpr bool is_point_to_point(recorder::Op op) noexcept {
  return op == recorder::Op::kSend || op == recorder::Op::kRecv;
}

// What begin() hands to end(). id 0: nothing was recorded.
struct CallTicket {
  std::uint64_t id = 0;
  bool captured = false;
};

// Records the call before it is made. `frame` is the frame address of the hook.
CallTicket begin_collective(const NcclCall& call, const void* frame) noexcept;

// Records that it came back with `code`.
void end_collective(const CallTicket& ticket, int code, const void* frame) noexcept;

// The outermost ncclGroupStart opens a group call, which is the parent of the calls until its ncclGroupEnd. Groups are
// followed whether or not they are recorded.
void begin_group(bool record_it, const void* frame) noexcept;

// True when this was the outermost.
bool end_group(int code, const void* frame) noexcept;

}  // namespace plumbline::shim::nccl
