// A library that allocates through the CUDA runtime it is linked with. Built twice, against libcudart.so.12 and .13.
#include <cuda_runtime_api.h>

#include <cstddef>

// Allocates, and says by how much the runtime's free memory shrank.
extern "C" std::size_t allocate_through_own_runtime(void** address, std::size_t size) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&before, &total);
  if (cudaMalloc(address, size) != cudaSuccess) return 0;
  cudaMemGetInfo(&after, &total);
  return before - after;
}

extern "C" bool free_through_own_runtime(void* address) { return cudaFree(address) == cudaSuccess; }
