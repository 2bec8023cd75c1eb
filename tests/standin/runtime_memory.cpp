// Stand-in CUDA runtime: memory. Device memory is host memory; PLUMBLINE_STANDIN_CUDA_BYTES limits it.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "tests/standin/runtime.hpp"

namespace plumbline::standin {
namespace {

class Memory {
 public:
  cudaError_t allocate(void** address, std::size_t size) {
    if (address == nullptr) return result(cudaErrorInvalidValue);
    use_device();
    const std::lock_guard lock(mutex_);
    if (used_ + size > limit_) return result(cudaErrorMemoryAllocation);
    *address = size == 0 ? nullptr : std::aligned_alloc(256, (size + 255) / 256 * 256);
    if (*address != nullptr) {
      used_ += size;
      sizes_[*address] = size;
    }
    return cudaSuccess;
  }

  cudaError_t release(void* address) {
    if (address == nullptr) return cudaSuccess;
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(address);
    if (found == sizes_.end()) return result(cudaErrorInvalidValue);
    used_ -= found->second;
    sizes_.erase(found);
    std::free(address);
    return cudaSuccess;
  }

  void report(std::size_t* free, std::size_t* total) {
    const std::lock_guard lock(mutex_);
    *total = limit_;
    *free = limit_ - used_;
  }

 private:
  static std::size_t limit_from_environment() {
    const char* limit = std::getenv("PLUMBLINE_STANDIN_CUDA_BYTES");
    return limit != nullptr ? std::strtoull(limit, nullptr, 10) : std::size_t{1} << 32;
  }

  std::mutex mutex_;
  std::size_t limit_ = limit_from_environment();
  std::size_t used_ = 0;
  std::unordered_map<void*, std::size_t> sizes_;
};

// Leaked: a process frees memory until its very end.
Memory& memory() {
  static Memory* const only = new Memory;
  return *only;
}

// Calls that allocate at once, and not in stream order, may not happen in a capture.
cudaError_t allocate_now(void** address, std::size_t size) {
  if (breaks_a_capture()) return result(cudaErrorStreamCaptureUnsupported);
  return memory().allocate(address, size);
}

}  // namespace
}  // namespace plumbline::standin

using plumbline::standin::allocate_now;
using plumbline::standin::enqueue;
using plumbline::standin::memory;

extern "C" {

cudaError_t cudaMalloc(void** address, size_t size) { return allocate_now(address, size); }
cudaError_t cudaMallocManaged(void** address, size_t size, unsigned) { return allocate_now(address, size); }
cudaError_t cudaMallocHost(void** address, size_t size) { return allocate_now(address, size); }
cudaError_t cudaHostAlloc(void** address, size_t size, unsigned) { return allocate_now(address, size); }
cudaError_t cudaFree(void* address) { return memory().release(address); }
cudaError_t cudaFreeHost(void* address) { return memory().release(address); }

cudaError_t cudaMallocAsync(void** address, size_t size, cudaStream_t) { return memory().allocate(address, size); }
cudaError_t cudaMallocAsync_ptsz(void** address, size_t size, cudaStream_t) { return memory().allocate(address, size); }
cudaError_t cudaMallocFromPoolAsync(void** address, size_t size, cudaMemPool_t, cudaStream_t) {
  return memory().allocate(address, size);
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void** address, size_t size, cudaMemPool_t, cudaStream_t) {
  return memory().allocate(address, size);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return memory().release(address); }
cudaError_t cudaFreeAsync_ptsz(void* address, cudaStream_t) { return memory().release(address); }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  memory().report(free, total);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind) {
  std::memmove(to, from, size);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t stream) {
  return enqueue(stream, [=] { std::memmove(to, from, size); });
}

cudaError_t cudaMemset(void* to, int value, size_t size) {
  std::memset(to, value, size);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  return enqueue(stream, [=] { std::memset(to, value, size); });
}

}  // extern "C"
