#include "reader/call_terms.hpp"

#include <algorithm>

namespace plumbline::reader {
namespace {

struct Sizes {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  bool even = true;
};

std::uint64_t common_size(Op op, const Sizes& sizes) {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
    case Op::kReduce:
    case Op::kBroadcast:
    case Op::kSend:
    case Op::kRecv:
    case Op::kRecvAnySource:
      return std::max(sizes.in, sizes.out);
    case Op::kAllGather:
    case Op::kAllGatherBase:
    case Op::kAllGatherCoalesced:
    case Op::kAllGatherIntoTensorCoalesced:
    case Op::kScatter:
      return sizes.out;
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
    case Op::kReduceScatterTensorCoalesced:
    case Op::kGather:
      return sizes.in;
    case Op::kAllToAll:
    case Op::kAllToAllBase:
      return sizes.even ? sizes.in : 0;
    default:
      return 0;
  }
}

CallTerms terms_of(std::uint64_t tag, std::int32_t peer, const Sizes& sizes) {
  CallTerms terms;
  terms.op = op_of(tag);
  if (!carries_data(terms.op)) return terms;
  terms.reduce_op = reduce_op_of(tag);
  terms.dtype = dtype_of(tag);
  if (has_root(terms.op)) terms.root = peer;
  terms.size = common_size(terms.op, sizes);
  return terms;
}

}  // namespace

CallTerms call_terms(const Collective& call) {
  return terms_of(recorder::collective_tag(call.op, call.reduce_op, call.dtype, call.layer), call.peer,
                  {call.count_in, call.count_out, call.splits_hash == 0});
}

CallTerms call_terms(const CollectiveBatch& batch, std::size_t row) {
  return terms_of(batch.tag[row], static_cast<std::int32_t>(batch.peer[row]),
                  {batch.count_in[row], batch.count_out[row], batch.splits_hash[row] == 0});
}

bool has_root(Op op) { return op == Op::kReduce || op == Op::kBroadcast || op == Op::kGather || op == Op::kScatter; }

bool carries_data(Op op) { return op != Op::kBarrier && op != Op::kMonitoredBarrier && op != Op::kGroupCall; }

bool is_all_to_all(Op op) { return op == Op::kAllToAll || op == Op::kAllToAllBase; }

bool is_described(const CallTerms& terms) { return !carries_data(terms.op) || terms.dtype != Dtype::kUnknown; }

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15ull ^ (b + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4full;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return x ^ x >> 32;
}

std::uint64_t hash_of(const CallTerms& terms) {
  const std::uint64_t kind = static_cast<std::uint64_t>(terms.op) | static_cast<std::uint64_t>(terms.reduce_op) << 8 |
                             static_cast<std::uint64_t>(terms.dtype) << 16 |
                             static_cast<std::uint64_t>(static_cast<std::uint32_t>(terms.root)) << 32;
  return mixed(kind, terms.size);
}

}  // namespace plumbline::reader
