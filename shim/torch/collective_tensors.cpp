#include "shim/torch/collective_tensors.hpp"

#include <algorithm>

namespace plumbline::shim::adapter {
namespace {

using recorder::Op;
using Parts = std::vector<CollectivePart>;

std::uint64_t elements(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::uint64_t>(tensor.numel()) : 0;
}

CollectivePart whole(const at::Tensor& tensor) { return {{tensor}, {elements(tensor)}}; }

CollectivePart divided(const at::Tensor& tensor, int size) {
  const auto count = static_cast<std::size_t>(size);
  return {{tensor}, std::vector<std::uint64_t>(count, elements(tensor) / count)};
}

CollectivePart listed(const Tensors& tensors) {
  CollectivePart part;
  part.tensors = tensors;
  for (const at::Tensor& tensor : tensors) part.blocks.push_back(elements(tensor));
  part.even = std::adjacent_find(part.blocks.begin(), part.blocks.end(), std::not_equal_to<>()) == part.blocks.end();
  return part;
}

// Splits count rows; none mean equal ones.
CollectivePart split(const at::Tensor& tensor, const Splits& splits, int size) {
  if (splits.empty() || tensor.dim() == 0 || tensor.size(0) == 0) return divided(tensor, size);
  const std::uint64_t row = elements(tensor) / static_cast<std::uint64_t>(tensor.size(0));
  CollectivePart part{{tensor}, {}};
  for (const std::int64_t rows : splits) part.blocks.push_back(static_cast<std::uint64_t>(rows) * row);
  part.even = std::adjacent_find(splits.begin(), splits.end(), std::not_equal_to<>()) == splits.end();
  return part;
}

template <class Make>
Parts each(const Tensors& tensors, const Make& make) {
  Parts parts;
  for (const at::Tensor& tensor : tensors) parts.push_back(make(tensor));
  return parts;
}

Parts each_list(const TensorLists& lists) {
  Parts parts;
  for (const Tensors& list : lists) parts.push_back(listed(list));
  return parts;
}

// Of lists that go by peer: the nth tensors of all.
Parts transposed(const TensorLists& lists) {
  Parts parts;
  for (std::size_t i = 0; !lists.empty() && i < lists.front().size(); ++i) {
    Tensors across;
    for (const Tensors& list : lists) {
      if (i < list.size()) across.push_back(list[i]);
    }
    parts.push_back(listed(across));
  }
  return parts;
}

CollectiveTensors in_place(const Tensors& tensors, bool gives, bool gets) {
  const Parts parts = each(tensors, whole);
  return {gives ? parts : Parts{}, gets ? parts : Parts{}, true};
}

}  // namespace

CollectiveTensors collective_tensors(Op op, const Arguments& a, int rank, int size) {
  const auto by_size = [size](const at::Tensor& tensor) { return divided(tensor, size); };
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
      return in_place(a.get<Tensors>(0), true, true);
    case Op::kReduce:
      return in_place(a.get<Tensors>(0), true, a.get<c10d::ReduceOptions>(1).rootRank == rank);
    case Op::kBroadcast:
      return in_place(a.get<Tensors>(0), a.get<c10d::BroadcastOptions>(1).rootRank == rank, true);
    case Op::kAllGather:
      return {each(a.get<Tensors>(1), whole), each_list(a.get<TensorLists>(0))};
    case Op::kAllGatherBase:
      return {{whole(a.get<at::Tensor>(1))}, {divided(a.get<at::Tensor>(0), size)}};
    case Op::kAllGatherCoalesced:
      return {each(a.get<Tensors>(1), whole), transposed(a.get<TensorLists>(0))};
    case Op::kAllGatherIntoTensorCoalesced:
      return {each(a.get<Tensors>(1), whole), each(a.get<Tensors>(0), by_size)};
    case Op::kReduceScatter:
      return {each_list(a.get<TensorLists>(1)), each(a.get<Tensors>(0), whole)};
    case Op::kReduceScatterBase:
      return {{divided(a.get<at::Tensor>(1), size)}, {whole(a.get<at::Tensor>(0))}};
    case Op::kReduceScatterTensorCoalesced:
      return {each(a.get<Tensors>(1), by_size), each(a.get<Tensors>(0), whole)};
    case Op::kAllToAll:
      return {{listed(a.get<Tensors>(1))}, {listed(a.get<Tensors>(0))}};
    case Op::kAllToAllBase:
      return {{split(a.get<at::Tensor>(1), a.get<Splits>(3), size)},
              {split(a.get<at::Tensor>(0), a.get<Splits>(2), size)}};
    case Op::kGather:
      return {each(a.get<Tensors>(1), whole), each_list(a.get<TensorLists>(0))};
    case Op::kScatter:
      return {each_list(a.get<TensorLists>(1)), each(a.get<Tensors>(0), whole)};
    case Op::kSend:
      return {each(a.get<Tensors>(0), whole), {}};
    case Op::kRecv:
    case Op::kRecvAnySource:
      return {{}, each(a.get<Tensors>(0), whole)};
    default:
      return {};
  }
}

}  // namespace plumbline::shim::adapter
