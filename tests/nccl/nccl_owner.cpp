// A library that carries NCCL itself and exports its functions, as libtorch does where NCCL is linked statically. Its
// calls go through its own dynamic symbols.
#include <nccl.h>

extern "C" int version_through_own_nccl() {
  int version = 0;
  return ncclGetVersion(&version) == ncclSuccess ? version : 0;
}

extern "C" bool communicate_through_own_nccl() {
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  int value = 3;
  int sum = 0;
  return ncclGetUniqueId(&id) == ncclSuccess && ncclCommInitRank(&comm, 1, id, 0) == ncclSuccess &&
         ncclAllReduce(&value, &sum, 1, ncclInt32, ncclSum, comm, nullptr) == ncclSuccess && sum == value &&
         ncclCommDestroy(comm) == ncclSuccess;
}
