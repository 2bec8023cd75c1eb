#include "shim/torch/c10d_describe.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "shim/torch/c10d_arguments.hpp"
#include "shim/torch/c10d_group.hpp"
#include "shim/torch/caching_allocator.hpp"
#include "shim/torch/python_hooks.hpp"
#include "shim/torch/reduce_operation.hpp"
#include "shim/torch/tensor_list.hpp"
#include "shim/torch/tensor_peek.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::CollectiveRecord;
using recorder::Dtype;
using recorder::Op;
using recorder::ReduceOp;

struct Call {
  TensorList in;
  TensorList out;
  ReduceOp reduce = ReduceOp::kNone;
  std::int32_t peer = -1;
  std::int32_t tag = 0;
  std::uint32_t splits_hash = 0;
};

ReduceOp reduce_op(const c10d::ReduceOp& op) noexcept {
  const auto number = static_cast<std::uint8_t>(op.op_);
  static_assert(static_cast<std::uint8_t>(ReduceOp::kBxor) == c10d::ReduceOp::BXOR);
  static_assert(static_cast<std::uint8_t>(ReduceOp::kPremulSum) == c10d::ReduceOp::PREMUL_SUM);
  return number <= c10d::ReduceOp::PREMUL_SUM ? static_cast<ReduceOp>(number) : ReduceOp::kNone;
}

class SplitsHash {
 public:
  void add(std::uint64_t size) noexcept {
    even_ = even_ && (count_ == 0 || size == first_);
    if (count_++ == 0) first_ = size;
    hash_ = (hash_ ^ static_cast<std::uint32_t>(size ^ size >> 32)) * 16777619u;
  }
  // Sizes of the two directions are hashed one after the other; an even exchange has no hash.
  std::uint32_t value() const noexcept { return even_ ? 0 : std::max(hash_, 1u); }

 private:
  std::uint32_t hash_ = 2166136261u;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  bool even_ = true;
};

template <class First, class Second>
void two_sided(Call& call, const First& out, const Second& in) {
  call.out.add(out);
  call.in.add(in);
}

void in_place(Call& call, const Tensors& tensors) { two_sided(call, tensors, tensors); }

void rooted(Call& call, std::int64_t root) { call.peer = static_cast<std::int32_t>(root); }

// A side of a rooted call in which this rank has no part.
void without(TensorList& side) { side.elements = 0; }

void all_to_all(Call& call, const Arguments& a) {
  two_sided(call, a.get<Tensors>(0), a.get<Tensors>(1));
  SplitsHash hash;
  for (const at::Tensor& tensor : a.get<Tensors>(0)) hash.add(elements_of(*tensor.unsafeGetTensorImpl()));
  for (const at::Tensor& tensor : a.get<Tensors>(1)) hash.add(elements_of(*tensor.unsafeGetTensorImpl()));
  call.splits_hash = hash.value();
}

void all_to_all_base(Call& call, const Arguments& a) {
  two_sided(call, a.get<at::Tensor>(0), a.get<at::Tensor>(1));
  SplitsHash hash;
  for (const std::int64_t size : a.get<Splits>(2)) hash.add(static_cast<std::uint64_t>(size));
  for (const std::int64_t size : a.get<Splits>(3)) hash.add(static_cast<std::uint64_t>(size));
  call.splits_hash = hash.value();
}

void describe(Call& call, Op op, const Arguments& a, int rank) {
  if (const c10d::ReduceOp* reduce = reduce_operation(op, a)) call.reduce = reduce_op(*reduce);
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceSparse:
    case Op::kAllReduceCoalesced:
      return in_place(call, a.get<Tensors>(0));
    case Op::kReduce:
      rooted(call, a.get<c10d::ReduceOptions>(1).rootRank);
      in_place(call, a.get<Tensors>(0));
      if (call.peer != rank) without(call.out);
      return;
    case Op::kBroadcast:
      rooted(call, a.get<c10d::BroadcastOptions>(1).rootRank);
      in_place(call, a.get<Tensors>(0));
      if (call.peer != rank) without(call.in);
      return;
    case Op::kAllGather:
    case Op::kAllGatherCoalesced:
      return two_sided(call, a.get<TensorLists>(0), a.get<Tensors>(1));
    case Op::kAllGatherBase:
    case Op::kReduceScatterBase:
      return two_sided(call, a.get<at::Tensor>(0), a.get<at::Tensor>(1));
    case Op::kAllGatherIntoTensorCoalesced:
    case Op::kReduceScatterTensorCoalesced:
      return two_sided(call, a.get<Tensors>(0), a.get<Tensors>(1));
    case Op::kReduceScatter:
      return two_sided(call, a.get<Tensors>(0), a.get<TensorLists>(1));
    case Op::kAllToAll:
      return all_to_all(call, a);
    case Op::kAllToAllBase:
      return all_to_all_base(call, a);
    case Op::kGather:
      rooted(call, a.get<c10d::GatherOptions>(2).rootRank);
      return two_sided(call, a.get<TensorLists>(0), a.get<Tensors>(1));
    case Op::kScatter:
      rooted(call, a.get<c10d::ScatterOptions>(2).rootRank);
      return two_sided(call, a.get<Tensors>(0), a.get<TensorLists>(1));
    case Op::kSend:
      call.peer = a.number(1);
      call.tag = a.number(2);
      return call.in.add(a.get<Tensors>(0));
    case Op::kRecv:
      call.peer = a.number(1);
      call.tag = a.number(2);
      return call.out.add(a.get<Tensors>(0));
    case Op::kRecvAnySource:
      call.tag = a.number(1);
      return call.out.add(a.get<Tensors>(0));
    case Op::kUnknown:
    case Op::kBarrier:
    case Op::kMonitoredBarrier:
    case Op::kGroupCall:
    case Op::kCount_:
      return;
  }
}

void fill(CollectiveRecord& record, Op op, const Call& call) noexcept {
  const Dtype dtype = call.in.tensors > 0 ? call.in.dtype : call.out.dtype;
  record.header.tag = recorder::collective_tag(op, call.reduce, dtype, recorder::Layer::kC10d);
  record.count_in = call.in.elements;
  record.count_out = call.out.elements;
  record.peer = call.peer;
  record.tensor_tag = call.tag;
  record.buffer_in = call.in.buffer;
  record.buffer_out = call.out.buffer;
  record.tensors_in = call.in.tensors;
  record.tensors_out = call.out.tensors;
  record.splits_hash = call.splits_hash;
}

}  // namespace

void describe_collective(Op op, void* backend, void* const* arguments, CollectiveRecord* record) noexcept {
  follow_caching_allocator();
  install_python_hooks();
  record->group = group_of(backend);
  Call call;
  try {
    describe(call, op, Arguments(arguments), rank_in_group(backend));
  } catch (const std::exception&) {
    call.in.dtype = Dtype::kUnknown;
  }
  fill(*record, op, call);
}

}  // namespace plumbline::shim::adapter
