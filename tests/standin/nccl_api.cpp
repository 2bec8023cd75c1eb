// A stand-in for libnccl.so.2: the public functions under their pnccl* names, each with its nccl* name as a weak alias,
// as in the real library.
#include <nccl.h>

#include <cstring>
#include <string>

#include "tests/standin/comm.hpp"

using namespace plumbline::standin;

#define PLUMBLINE_STANDIN_ALIAS(name) extern "C" decltype(p##name) name __attribute__((weak, alias("p" #name)))

namespace {

Reduction reduction_of(ncclRedOp_t op, ncclComm_t comm) {
  if (comm != nullptr) {
    const auto made = comm->reductions.find(op);
    if (made != comm->reductions.end()) return made->second;
  }
  return {op, false, 0};
}

std::string path_of(const ncclUniqueId& id) { return {id.internal, ::strnlen(id.internal, sizeof id.internal)}; }

}  // namespace

extern "C" {

ncclResult_t pncclMemAlloc(void** address, size_t size) {
  return cudaMalloc(address, size) == cudaSuccess ? ncclSuccess : failed(ncclUnhandledCudaError, "no memory");
}

ncclResult_t pncclMemFree(void* address) {
  return cudaFree(address) == cudaSuccess ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t pncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t pncclGetUniqueId(ncclUniqueId* id) {
  const std::string path = Room::make_path();
  if (path.empty() || path.size() >= sizeof id->internal) return failed(ncclSystemError, "no file for the unique id");
  std::memset(id->internal, 0, sizeof id->internal);
  std::memcpy(id->internal, path.data(), path.size());
  return ncclSuccess;
}

ncclResult_t pncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  return make_comm(comm, path_of(id), rank, size, nullptr);
}

ncclResult_t pncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  return make_comm(comm, path_of(id), rank, size, config);
}

ncclResult_t pncclCommInitRankScalable(ncclComm_t* comm, int size, int rank, int id_count, ncclUniqueId* ids,
                                       ncclConfig_t* config) {
  if (id_count < 1 || ids == nullptr) return failed(ncclInvalidArgument, "no unique id");
  return make_comm(comm, path_of(ids[0]), rank, size, config);
}

ncclResult_t pncclCommInitAll(ncclComm_t* comms, int size, const int* devices) {
  ncclUniqueId id;
  if (ncclResult_t code = pncclGetUniqueId(&id); code != ncclSuccess) return code;
  group_start();
  for (int rank = 0; rank < size; ++rank) {
    cudaSetDevice(devices != nullptr ? devices[rank] : rank);
    make_comm(&comms[rank], path_of(id), rank, size, nullptr);
  }
  return group_end(false);
}

ncclResult_t pncclCommFinalize(ncclComm_t comm) {
  if (comm == nullptr || comm->finalized) return failed(ncclInvalidArgument, "no communicator, or finalized before");
  comm->finalized = true;
  return comm->room.meet();
}

ncclResult_t pncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}

ncclResult_t pncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  comm->room.break_up();
  delete comm;
  return ncclSuccess;
}

ncclResult_t pncclCommRevoke(ncclComm_t comm, int flags) {
  if (comm == nullptr || flags != NCCL_REVOKE_DEFAULT) return failed(ncclInvalidArgument, "no communicator, or flags");
  comm->room.break_up();
  return ncclSuccess;
}

ncclResult_t pncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* child, ncclConfig_t* config) {
  if (comm == nullptr || child == nullptr || color < NCCL_SPLIT_NOCOLOR) {
    return failed(ncclInvalidArgument, "no communicator, or a negative color");
  }
  return split(*comm, color, key, child, config);
}

ncclResult_t pncclCommShrink(ncclComm_t comm, int* excluded, int excluded_count, ncclComm_t* child,
                             ncclConfig_t* config, int) {
  if (comm == nullptr || child == nullptr || excluded == nullptr)
    return failed(ncclInvalidArgument, "nothing to shrink");
  return shrink(*comm, {excluded, excluded + excluded_count}, child, config);
}

const char* pncclGetErrorString(ncclResult_t code) {
  constexpr const char* kTexts[] = {"no error",       "unhandled cuda error",      "unhandled system error",
                                    "internal error", "invalid argument",          "invalid usage",
                                    "remote error",   "NCCL operation in progress"};
  return code >= 0 && code < ncclNumResults ? kTexts[code] : "unknown result code";
}

const char* pncclGetLastError(ncclComm_t) { return last_message(); }

void pncclResetDebugInit() {}
void ncclResetDebugInit() {}

ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  *error = comm->state;
  return ncclSuccess;
}

ncclResult_t pncclCommCount(const ncclComm_t comm, int* count) {
  if (comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  *count = comm->size;
  return ncclSuccess;
}

ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int* device) {
  if (comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t pncclCommUserRank(const ncclComm_t comm, int* rank) {
  if (comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t pncclCommRegister(const ncclComm_t, void* buffer, size_t, void** handle) {
  *handle = buffer;
  return ncclSuccess;
}

ncclResult_t pncclCommDeregister(const ncclComm_t, void*) { return ncclSuccess; }

ncclResult_t pncclCommWindowRegister(ncclComm_t, void* buffer, size_t, ncclWindow_t* window, int) {
  *window = static_cast<ncclWindow_t>(buffer);
  return ncclSuccess;
}

ncclResult_t pncclCommWindowDeregister(ncclComm_t, ncclWindow_t) { return ncclSuccess; }

ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t,
                                       ncclComm_t comm) {
  if (op == nullptr || scalar == nullptr || comm == nullptr) return failed(ncclInvalidArgument, "no operator");
  Reduction reduction{ncclSum, true, 0};
  std::memcpy(&reduction.factor_bits, scalar, size_of(datatype));
  *op = static_cast<ncclRedOp_t>(comm->next_reduction++);
  comm->reductions[*op] = reduction;
  return ncclSuccess;
}

ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  if (comm == nullptr || comm->reductions.erase(op) == 0) return failed(ncclInvalidArgument, "no such operator");
  return ncclSuccess;
}

ncclResult_t pncclReduce(const void* send, void* recv, size_t count, ncclDataType_t datatype, ncclRedOp_t op, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  return submit({What::kReduce, send, recv, count, datatype, reduction_of(op, comm), root, comm, stream});
}

ncclResult_t pncclBcast(void* buffer, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return submit({What::kBroadcast, buffer, buffer, count, datatype, {}, root, comm, stream});
}

ncclResult_t pncclBroadcast(const void* send, void* recv, size_t count, ncclDataType_t datatype, int root,
                            ncclComm_t comm, cudaStream_t stream) {
  return submit({What::kBroadcast, send, recv, count, datatype, {}, root, comm, stream});
}

ncclResult_t pncclAllReduce(const void* send, void* recv, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                            ncclComm_t comm, cudaStream_t stream) {
  return submit({What::kAllReduce, send, recv, count, datatype, reduction_of(op, comm), 0, comm, stream});
}

ncclResult_t pncclReduceScatter(const void* send, void* recv, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                                ncclComm_t comm, cudaStream_t stream) {
  return submit({What::kReduceScatter, send, recv, count, datatype, reduction_of(op, comm), 0, comm, stream});
}

ncclResult_t pncclAllGather(const void* send, void* recv, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                            cudaStream_t stream) {
  return submit({What::kAllGather, send, recv, count, datatype, {}, 0, comm, stream});
}

ncclResult_t pncclAlltoAll(const void* send, void* recv, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                           cudaStream_t stream) {
  return submit({What::kAllToAll, send, recv, count, datatype, {}, 0, comm, stream});
}

ncclResult_t pncclGather(const void* send, void* recv, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return submit({What::kGather, send, recv, count, datatype, {}, root, comm, stream});
}

ncclResult_t pncclScatter(const void* send, void* recv, size_t count, ncclDataType_t datatype, int root,
                          ncclComm_t comm, cudaStream_t stream) {
  return submit({What::kScatter, send, recv, count, datatype, {}, root, comm, stream});
}

ncclResult_t pncclSend(const void* send, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream) {
  return submit({What::kSend, send, nullptr, count, datatype, {}, peer, comm, stream});
}

ncclResult_t pncclRecv(void* recv, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                       cudaStream_t stream) {
  return submit({What::kRecv, nullptr, recv, count, datatype, {}, peer, comm, stream});
}

ncclResult_t pncclGroupStart() { return group_start(); }

ncclResult_t pncclGroupEnd() { return group_end(false); }

ncclResult_t pncclGroupSimulateEnd(ncclSimInfo_t* info) {
  if (info != nullptr) info->estimatedTime = 1.0f;
  return group_end(true);
}

}  // extern "C"

PLUMBLINE_STANDIN_ALIAS(ncclMemAlloc);
PLUMBLINE_STANDIN_ALIAS(ncclMemFree);
PLUMBLINE_STANDIN_ALIAS(ncclGetVersion);
PLUMBLINE_STANDIN_ALIAS(ncclGetUniqueId);
PLUMBLINE_STANDIN_ALIAS(ncclCommInitRank);
PLUMBLINE_STANDIN_ALIAS(ncclCommInitRankConfig);
PLUMBLINE_STANDIN_ALIAS(ncclCommInitRankScalable);
PLUMBLINE_STANDIN_ALIAS(ncclCommInitAll);
PLUMBLINE_STANDIN_ALIAS(ncclCommFinalize);
PLUMBLINE_STANDIN_ALIAS(ncclCommDestroy);
PLUMBLINE_STANDIN_ALIAS(ncclCommAbort);
PLUMBLINE_STANDIN_ALIAS(ncclCommRevoke);
PLUMBLINE_STANDIN_ALIAS(ncclCommSplit);
PLUMBLINE_STANDIN_ALIAS(ncclCommShrink);
PLUMBLINE_STANDIN_ALIAS(ncclGetErrorString);
PLUMBLINE_STANDIN_ALIAS(ncclGetLastError);
PLUMBLINE_STANDIN_ALIAS(ncclCommGetAsyncError);
PLUMBLINE_STANDIN_ALIAS(ncclCommCount);
PLUMBLINE_STANDIN_ALIAS(ncclCommCuDevice);
PLUMBLINE_STANDIN_ALIAS(ncclCommUserRank);
PLUMBLINE_STANDIN_ALIAS(ncclCommRegister);
PLUMBLINE_STANDIN_ALIAS(ncclCommDeregister);
PLUMBLINE_STANDIN_ALIAS(ncclCommWindowRegister);
PLUMBLINE_STANDIN_ALIAS(ncclCommWindowDeregister);
PLUMBLINE_STANDIN_ALIAS(ncclRedOpCreatePreMulSum);
PLUMBLINE_STANDIN_ALIAS(ncclRedOpDestroy);
PLUMBLINE_STANDIN_ALIAS(ncclReduce);
PLUMBLINE_STANDIN_ALIAS(ncclBcast);
PLUMBLINE_STANDIN_ALIAS(ncclBroadcast);
PLUMBLINE_STANDIN_ALIAS(ncclAllReduce);
PLUMBLINE_STANDIN_ALIAS(ncclReduceScatter);
PLUMBLINE_STANDIN_ALIAS(ncclAllGather);
PLUMBLINE_STANDIN_ALIAS(ncclAlltoAll);
PLUMBLINE_STANDIN_ALIAS(ncclGather);
PLUMBLINE_STANDIN_ALIAS(ncclScatter);
PLUMBLINE_STANDIN_ALIAS(ncclSend);
PLUMBLINE_STANDIN_ALIAS(ncclRecv);
PLUMBLINE_STANDIN_ALIAS(ncclGroupStart);
PLUMBLINE_STANDIN_ALIAS(ncclGroupEnd);
PLUMBLINE_STANDIN_ALIAS(ncclGroupSimulateEnd);
