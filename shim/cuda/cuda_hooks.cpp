// Hooks on the allocating calls of the CUDA runtime, and on graph launches. No CUDA call is made here but the real one
// and the two harmless questions of driver.hpp; whatever the real one returns is returned.
//
// An allocation is recorded after the real call, a release before it: another thread may be given the address as soon
// as the runtime has it back. The definitions carry no symbol version, so they satisfy an import of any
// `libcudart.so.NN`.
#include <errno.h>

#include <atomic>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/hook_report.hpp"
#include "shim/core/library_symbol.hpp"
#include "shim/cuda/driver.hpp"
#include "shim/cuda/hook_report.hpp"
#include "shim/cuda/runtime_function.hpp"
#include "shim/cupti/device_recording.hpp"
#include "shim/nccl/nccl_thread.hpp"

namespace plumbline::shim::cuda {
namespace {

using recorder::Kind;
using recorder::Source;

constexpr int kSymbolNotFound = 302;  // cudaErrorSharedObjectSymbolNotFound

constinit std::atomic<bool> looked_for_runtime{false};
constinit std::atomic<std::int64_t> graph_launches{0};

bool may_record(Hook hook) noexcept {
  if (!is_open() && !open_for(Evidence::kAllocation)) return false;
  if (!recorder::active()) return false;
  // The runtime may have been loaded after the process had shown that it trains, when it was reported as absent.
  if (!looked_for_runtime.load(std::memory_order_relaxed) && !looked_for_runtime.exchange(true)) report_hooks();
  recorder::hook_fired(hook);
  return true;
}

// NCCL's own memory is told apart from the job's: that which it takes inside a call, and in its own threads.
void push(Kind kind, Source source, bool for_nccl, const void* address, std::size_t size) noexcept {
  const Source owner = for_nccl || nccl::nccl_thread.inside != 0 ? Source::kNcclInternal : source;
  const int device = source == Source::kCudaHost ? -1 : current_device();
  const recorder::AllocRecord record{
      {recorder::now_ns(), kind, recorder::slots_of<recorder::AllocRecord>(), 0, recorder::alloc_tag(owner, device)},
      reinterpret_cast<std::uintptr_t>(address),
      size};
  recorder::push(record.header);
}

template <class... Rest>
int allocate(RuntimeFunction& function, const void* site, Source source, void** address, std::size_t size,
             Rest... rest) noexcept {
  const Found found = function.get(site);
  const auto real = reinterpret_cast<int (*)(void**, std::size_t, Rest...)>(found.pointer);
  if (real == nullptr) return kSymbolNotFound;
  const int code = real(address, size, rest...);
  const int saved_errno = errno;
  if (may_record(kHookCudaMalloc)) {
    cupti::record_devices();
    if (code != 0) {
      push(Kind::kAllocFailed, source, found.for_nccl, nullptr, size);
    } else if (address != nullptr && *address != nullptr) {
      push(Kind::kAlloc, source, found.for_nccl, *address, size);
    }
  }
  errno = saved_errno;
  return code;
}

template <class... Rest>
int release(RuntimeFunction& function, const void* site, Source source, void* address, Rest... rest) noexcept {
  const Found found = function.get(site);
  const auto real = reinterpret_cast<int (*)(void*, Rest...)>(found.pointer);
  if (real == nullptr) return kSymbolNotFound;
  const int saved_errno = errno;
  if (address != nullptr && may_record(kHookCudaMalloc)) push(Kind::kFree, source, found.for_nccl, address, 0);
  errno = saved_errno;
  return real(address, rest...);
}

int launch(RuntimeFunction& function, const void* site, void* graph, void* stream) noexcept {
  const auto real = reinterpret_cast<int (*)(void*, void*)>(function.get(site).pointer);
  if (real == nullptr) return kSymbolNotFound;
  const int saved_errno = errno;
  if (may_record(kHookCudaGraph)) {
    const recorder::SampleRecord record{
        {recorder::now_ns(), Kind::kSample, recorder::slots_of<recorder::SampleRecord>(), 0,
         static_cast<std::uint32_t>(recorder::Counter::kGraphLaunches)},
        graph_launches.fetch_add(1, std::memory_order_relaxed) + 1,
        0};
    recorder::push(record.header);
  }
  errno = saved_errno;
  return real(graph, stream);
}

}  // namespace

void report_hooks() noexcept {
  const char* runtime = runtime_name();
  for (const Hook hook : {kHookCudaMalloc, kHookCudaGraph}) {
    if (runtime != nullptr) {
      report_hook_on(hook, runtime);
    } else if (is_loaded("libc10_cuda.so")) {
      report_hook_off(hook, "no libcudart.so is loaded: the CUDA runtime is linked statically, and cannot be seen");
    } else {
      report_hook_off(hook, "no CUDA runtime is loaded");
    }
  }
}

}  // namespace plumbline::shim::cuda

using plumbline::recorder::Source;
using plumbline::shim::cuda::allocate;
using plumbline::shim::cuda::launch;
using plumbline::shim::cuda::release;
using plumbline::shim::cuda::RuntimeFunction;

#define PLUMBLINE_EXPORT extern "C" [[gnu::visibility("default")]]
#define PLUMBLINE_SITE __builtin_return_address(0)

PLUMBLINE_EXPORT int cudaMalloc(void** address, std::size_t size) noexcept {
  static constinit RuntimeFunction real{"cudaMalloc"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaMalloc, address, size);
}

PLUMBLINE_EXPORT int cudaMallocManaged(void** address, std::size_t size, unsigned flags) noexcept {
  static constinit RuntimeFunction real{"cudaMallocManaged"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaManaged, address, size, flags);
}

PLUMBLINE_EXPORT int cudaMallocHost(void** address, std::size_t size) noexcept {
  static constinit RuntimeFunction real{"cudaMallocHost"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaHost, address, size);
}

PLUMBLINE_EXPORT int cudaHostAlloc(void** address, std::size_t size, unsigned flags) noexcept {
  static constinit RuntimeFunction real{"cudaHostAlloc"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaHost, address, size, flags);
}

PLUMBLINE_EXPORT int cudaMallocAsync(void** address, std::size_t size, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaMallocAsync"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaAsync, address, size, stream);
}

PLUMBLINE_EXPORT int cudaMallocAsync_ptsz(void** address, std::size_t size, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaMallocAsync_ptsz"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaAsync, address, size, stream);
}

PLUMBLINE_EXPORT int cudaMallocFromPoolAsync(void** address, std::size_t size, void* pool, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaMallocFromPoolAsync"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaAsync, address, size, pool, stream);
}

PLUMBLINE_EXPORT int cudaMallocFromPoolAsync_ptsz(void** address, std::size_t size, void* pool, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaMallocFromPoolAsync_ptsz"};
  return allocate(real, PLUMBLINE_SITE, Source::kCudaAsync, address, size, pool, stream);
}

PLUMBLINE_EXPORT int cudaFree(void* address) noexcept {
  static constinit RuntimeFunction real{"cudaFree"};
  return release(real, PLUMBLINE_SITE, Source::kCudaMalloc, address);
}

PLUMBLINE_EXPORT int cudaFreeHost(void* address) noexcept {
  static constinit RuntimeFunction real{"cudaFreeHost"};
  return release(real, PLUMBLINE_SITE, Source::kCudaHost, address);
}

PLUMBLINE_EXPORT int cudaFreeAsync(void* address, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaFreeAsync"};
  return release(real, PLUMBLINE_SITE, Source::kCudaAsync, address, stream);
}

PLUMBLINE_EXPORT int cudaFreeAsync_ptsz(void* address, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaFreeAsync_ptsz"};
  return release(real, PLUMBLINE_SITE, Source::kCudaAsync, address, stream);
}

PLUMBLINE_EXPORT int cudaGraphLaunch(void* graph, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaGraphLaunch"};
  return launch(real, PLUMBLINE_SITE, graph, stream);
}

PLUMBLINE_EXPORT int cudaGraphLaunch_ptsz(void* graph, void* stream) noexcept {
  static constinit RuntimeFunction real{"cudaGraphLaunch_ptsz"};
  return launch(real, PLUMBLINE_SITE, graph, stream);
}
