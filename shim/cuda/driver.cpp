#include "shim/cuda/driver.hpp"

#include <atomic>
#include <cstdint>

#include "shim/core/library_symbol.hpp"

namespace plumbline::shim::cuda {
namespace {

constexpr const char* kDriver = "libcuda.so.1";

// Looked up at first use. Not found is remembered too: what allocates or communicates through CUDA has the driver
// loaded by then.
class DriverFunction {
 public:
  explicit constexpr DriverFunction(const char* symbol) noexcept : symbol_(symbol) {}

  template <class Signature>
  Signature* get() noexcept {
    std::uintptr_t address = address_.load(std::memory_order_relaxed);
    if (address == kUnknown) [[unlikely]] {
      address = reinterpret_cast<std::uintptr_t>(symbol_in_library(kDriver, symbol_));
      address_.store(address, std::memory_order_relaxed);
    }
    return reinterpret_cast<Signature*>(address);
  }

 private:
  static constexpr std::uintptr_t kUnknown = 1;

  const char* symbol_;
  std::atomic<std::uintptr_t> address_{kUnknown};
};

constinit DriverFunction stream_is_capturing{"cuStreamIsCapturing"};
constinit DriverFunction context_device{"cuCtxGetDevice"};

constexpr int kSuccess = 0;
constexpr int kCaptureNone = 0;

// cudaStreamLegacy is 1, and 0 is either it or the per-thread default stream, which cannot be told apart here.
bool is_default(void* stream) noexcept { return reinterpret_cast<std::uintptr_t>(stream) <= 1; }

}  // namespace

bool is_capturing(void* stream) noexcept {
  if (is_default(stream)) return false;
  const auto ask = stream_is_capturing.get<int(void*, int*)>();
  int status = kCaptureNone;
  return ask != nullptr && ask(stream, &status) == kSuccess && status != kCaptureNone;
}

int current_device() noexcept {
  const auto ask = context_device.get<int(int*)>();
  int device = -1;
  return ask != nullptr && ask(&device) == kSuccess ? device : -1;
}

}  // namespace plumbline::shim::cuda
