// The function of the CUDA runtime that a hook stands in front of.
//
// A process may hold two runtimes (libcudart.so.12 and .13), and the preload object stands before both: the right one
// is that of the calling code, found through its library and kept by the address of the call.
#pragma once

#include <atomic>
#include <cstddef>

namespace plumbline::shim::cuda {

// `pointer` null: no loaded runtime has the function. `for_nccl`: the calling code is NCCL's.
struct Found {
  void* pointer;
  bool for_nccl;
};

class RuntimeFunction {
 public:
  explicit constexpr RuntimeFunction(const char* symbol) noexcept : symbol_(symbol) {}

  // `site` is the return address of the hook. What is missing is told in the log, once.
  Found get(const void* site) noexcept {
    for (const Site& known : sites_) {
      if (known.address.load(std::memory_order_acquire) == site) {
        return {known.function.load(std::memory_order_relaxed), known.for_nccl.load(std::memory_order_relaxed)};
      }
    }
    return find(site);
  }

 private:
  struct Site {
    std::atomic<const void*> address;
    std::atomic<void*> function;
    std::atomic<bool> for_nccl;
  };

  [[gnu::cold, gnu::noinline]] Found find(const void* site) noexcept;
  void remember(const void* site, const Found& found) noexcept;

  const char* symbol_;
  std::atomic<std::size_t> used_{0};
  Site sites_[16]{};  // when all are taken, further call sites are looked up each time
};

// Name of the runtime that is loaded, for people: "libcudart.so.13". Null: none.
const char* runtime_name() noexcept;

}  // namespace plumbline::shim::cuda
