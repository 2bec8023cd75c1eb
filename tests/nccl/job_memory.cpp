// Every allocating call of the CUDA runtime, requests that fail, and graphs.
#include "tests/nccl/job.hpp"

namespace plumbline::nccl_job {

void Job::use_memory() {
  const int device = rank;
  void* block = nullptr;
  const auto took = [&](cudaError_t code, const char* source, int on, std::size_t bytes) {
    expect(code == cudaSuccess && block != nullptr, source);
    log.allocated(source, on, block, bytes);
  };
  const auto gave_back = [&](const char* source, int on, auto release) {
    log.released(source, on, block);
    expect(release() == cudaSuccess, source);
  };

  took(cudaMalloc(&block, 1000), "malloc", device, 1000);
  gave_back("malloc", device, [&] { return cudaFree(block); });
  took(cudaMallocManaged(&block, 2000, cudaMemAttachGlobal), "managed", device, 2000);
  gave_back("malloc", device, [&] { return cudaFree(block); });
  took(cudaMallocHost(&block, 3000), "host", -1, 3000);
  gave_back("host", -1, [&] { return cudaFreeHost(block); });
  took(cudaHostAlloc(&block, 4000, cudaHostAllocDefault), "host", -1, 4000);
  gave_back("host", -1, [&] { return cudaFreeHost(block); });
  took(cudaMallocAsync(&block, 5000, stream), "async", device, 5000);
  gave_back("async", device, [&] { return cudaFreeAsync(block, stream); });
  took(cudaMallocFromPoolAsync(&block, 6000, nullptr, stream), "async", device, 6000);
  gave_back("async", device, [&] { return cudaFreeAsync(block, stream); });
  expect(cudaFree(nullptr) == cudaSuccess, "releasing nothing");

  // A request that fails is told to the caller as it is, and the runtime's error stays for who asks for it.
  const std::size_t too_much = std::size_t{1} << 50;
  void* untouched = &block;
  expect(cudaMalloc(&untouched, too_much) == cudaErrorMemoryAllocation, "a request that must fail");
  log.failed_to_allocate("malloc", device, too_much);
  expect(untouched == &block, "the result of a failed request");
  expect(cudaPeekAtLastError() == cudaErrorMemoryAllocation, "the error is kept");
  took(cudaMalloc(&block, 7000), "malloc", device, 7000);
  expect(cudaGetLastError() == cudaErrorMemoryAllocation, "a later success keeps the error");
  expect(cudaGetLastError() == cudaSuccess, "the error is given once");
  gave_back("malloc", device, [&] { return cudaFree(block); });
}

void Job::use_graph(const Member& on) {
  fill(on, ncclFloat32, kCount);
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "begin of a capture");
  capturing = true;
  expect(all_reduce(on, ncclFloat32, ncclSum, "sum") == ncclSuccess, "captured all-reduce");
  group_start();
  expect(all_reduce(on, ncclFloat32, ncclMax, "max") == ncclSuccess, "captured all-reduce in a group");
  expect(group_end() == ncclSuccess, "captured group");
  capturing = false;
  cudaGraph_t graph = nullptr;
  expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "the capture was not disturbed");
  expect(Elements(recv, ncclFloat32).equals(0, 0), "nothing runs during a capture");

  cudaGraphExec_t executable = nullptr;
  expect(cudaGraphInstantiateWithFlags(&executable, graph, 0) == cudaSuccess, "graph");
  for (int launch = 0; launch < 3; ++launch) {
    expect(cudaGraphLaunch(executable, stream) == cudaSuccess, "graph launch");
  }
  expect(Elements(recv, ncclFloat32).equals(0, on.size), "result of the graph");
  keep(recv, kCount * sizeof(float));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

}  // namespace plumbline::nccl_job
