// The backend methods of c10d that are calls of a collective, once for all backends: M(op, name, parameters, arity).
//
// Name and parameters are in the mangled form of the Itanium ABI, under both std::string ABIs, since no parameter is a
// string. The list covers the names of torch 2.6 to 2.15: the latter renamed what takes a single tensor. Arity names
// the shape of the arguments after `this`: so many references, or S (send, receive: tensors, peer, tag) and A (receive
// from any: tensors, tag).
#pragma once

#include "recorder/event.hpp"

// at::Tensor, std::vector<at::Tensor> and std::vector<std::vector<at::Tensor>> as first of their kind in a name.
#define PLUMBLINE_C10D_METHODS(M, Backend)                                                                        \
  M(Backend, kAllReduce, 9allreduce, RSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE, 2)                  \
  M(Backend, kAllReduceSparse, 16allreduce_sparse, RSt6vectorIN2at6TensorESaIS3_EERKNS_16AllreduceOptionsE, 2)    \
  M(Backend, kAllReduceCoalesced, 19allreduce_coalesced,                                                          \
    RSt6vectorIN2at6TensorESaIS3_EERKNS_25AllreduceCoalescedOptionsE, 2)                                          \
  M(Backend, kReduce, 6reduce, RSt6vectorIN2at6TensorESaIS3_EERKNS_13ReduceOptionsE, 2)                           \
  M(Backend, kBroadcast, 9broadcast, RSt6vectorIN2at6TensorESaIS3_EERKNS_16BroadcastOptionsE, 2)                  \
  M(Backend, kAllGather, 9allgather, RSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE, 3)  \
  M(Backend, kAllGatherBase, 15_allgather_base, RN2at6TensorES3_RKNS_16AllgatherOptionsE, 3)                      \
  M(Backend, kAllGatherCoalesced, 19allgather_coalesced,                                                          \
    RSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_16AllgatherOptionsE, 3)                                   \
  M(Backend, kAllGatherIntoTensorCoalesced, 31allgather_into_tensor_coalesced,                                    \
    RSt6vectorIN2at6TensorESaIS3_EES6_RKNS_16AllgatherOptionsE, 3)                                                \
  M(Backend, kReduceScatter, 14reduce_scatter,                                                                    \
    RSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_20ReduceScatterOptionsE, 3)                               \
  M(Backend, kReduceScatterBase, 20_reduce_scatter_base, RN2at6TensorES3_RKNS_20ReduceScatterOptionsE, 3)         \
  M(Backend, kReduceScatterTensorCoalesced, 31reduce_scatter_tensor_coalesced,                                    \
    RSt6vectorIN2at6TensorESaIS3_EES6_RKNS_20ReduceScatterOptionsE, 3)                                            \
  M(Backend, kAllToAll, 8alltoall, RSt6vectorIN2at6TensorESaIS3_EES6_RKNS_15AllToAllOptionsE, 3)                  \
  M(Backend, kAllToAllBase, 13alltoall_base, RN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE, 5)     \
  M(Backend, kGather, 6gather, RSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_RKNS_13GatherOptionsE, 3)           \
  M(Backend, kScatter, 7scatter, RSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EERKNS_14ScatterOptionsE, 3)        \
  M(Backend, kSend, 4send, RSt6vectorIN2at6TensorESaIS3_EEii, S)                                                  \
  M(Backend, kRecv, 4recv, RSt6vectorIN2at6TensorESaIS3_EEii, S)                                                  \
  M(Backend, kRecvAnySource, 13recvAnysource, RSt6vectorIN2at6TensorESaIS3_EEi, A)                                \
  M(Backend, kAllGatherBase, 17all_gather_single, RN2at6TensorES3_RKNS_16AllgatherOptionsE, 3)                    \
  M(Backend, kAllGatherIntoTensorCoalesced, 27all_gather_single_coalesced,                                        \
    RSt6vectorIN2at6TensorESaIS3_EES6_RKNS_16AllgatherOptionsE, 3)                                                \
  M(Backend, kReduceScatterBase, 21reduce_scatter_single, RN2at6TensorES3_RKNS_20ReduceScatterOptionsE, 3)        \
  M(Backend, kReduceScatterTensorCoalesced, 31reduce_scatter_single_coalesced,                                    \
    RSt6vectorIN2at6TensorESaIS3_EES6_RKNS_20ReduceScatterOptionsE, 3)                                            \
  M(Backend, kAllToAllBase, 17all_to_all_single, RN2at6TensorES3_RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE, 5) \
  M(Backend, kBarrier, 7barrier, RKNS_14BarrierOptionsE, 1)

namespace plumbline::shim {

constexpr bool is_point_to_point(recorder::Op op) noexcept {
  return op == recorder::Op::kSend || op == recorder::Op::kRecv || op == recorder::Op::kRecvAnySource;
}

// Calls that a backend may make of several others.
constexpr bool is_composite(recorder::Op op) noexcept {
  switch (op) {
    case recorder::Op::kAllReduceCoalesced:
    case recorder::Op::kAllGatherCoalesced:
    case recorder::Op::kAllGatherIntoTensorCoalesced:
    case recorder::Op::kReduceScatter:
    case recorder::Op::kReduceScatterBase:
    case recorder::Op::kReduceScatterTensorCoalesced:
      return true;
    default:
      return false;
  }
}

}  // namespace plumbline::shim
