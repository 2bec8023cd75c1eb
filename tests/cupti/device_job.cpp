// A process that trains with NCCL and puts work on a device, as the stand-ins pretend.
//
//   device_job plain       kernels, copies and a memory set, some of them inside of an all-reduce
//   device_job profiler    the same, then another user registers for CUPTI's records, and more work
//   device_job flood       200,000 kernels at once
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void standin_cupti_launch(const char* name);
void standin_cupti_copy(uint64_t bytes);
void standin_cupti_peer_copy(uint64_t bytes);
void standin_cupti_memset(uint64_t bytes);
}

namespace {

int of_the_profiler = 0;
alignas(8) uint8_t profiler_buffer[1 << 16];

void requested(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = profiler_buffer;
  *size = sizeof profiler_buffer;
  *most = 0;
}

void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) ++of_the_profiler;
}

void work() {
  standin_cupti_launch("_Z6kernelPf");
  standin_cupti_copy(4096);
  standin_cupti_peer_copy(8192);
  standin_cupti_memset(64);
}

void profile() {
  cuptiActivityRegisterCallbacks(requested, completed);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  standin_cupti_launch("profiled");
  standin_cupti_launch("profiled");
  cuptiActivityFlushAll(0);
}

}  // namespace

int main(int, char** arguments) {
  void* memory = nullptr;
  if (cudaSetDevice(0) != cudaSuccess || cudaMalloc(&memory, 1024) != cudaSuccess) return 2;
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  if (ncclGetUniqueId(&id) != ncclSuccess || ncclCommInitRank(&comm, 1, id, 0) != ncclSuccess) return 3;
  work();
  if (ncclAllReduce(memory, memory, 16, ncclFloat, ncclSum, comm, nullptr) != ncclSuccess) return 4;
  if (std::strcmp(arguments[1], "profiler") == 0) {
    profile();
    std::printf("%d\n", of_the_profiler);
  }
  if (std::strcmp(arguments[1], "flood") == 0) {
    for (int i = 0; i < 200'000; ++i) standin_cupti_launch("flood");
  }
  ncclCommDestroy(comm);
  return 0;
}
