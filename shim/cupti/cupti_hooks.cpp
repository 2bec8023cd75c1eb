// Another user of CUPTI's activity records, as PyTorch's profiler is: it gets them.
#include "shim/core/activation.hpp"
#include "shim/core/real_function.hpp"
#include "shim/cupti/cupti_abi.hpp"
#include "shim/cupti/device_recording.hpp"

namespace plumbline::shim::cupti {
namespace {

constexpr int kNotInitialized = 15;  // CUPTI_ERROR_NOT_INITIALIZED
int refuse(BufferRequested /*requested*/, BufferCompleted /*completed*/) { return kNotInitialized; }

}  // namespace
}  // namespace plumbline::shim::cupti

extern "C" [[gnu::visibility("default")]] int cuptiActivityRegisterCallbacks(
    plumbline::shim::cupti::BufferRequested requested, plumbline::shim::cupti::BufferCompleted completed) {
  using namespace plumbline::shim;
  static constinit RealFunction<int(cupti::BufferRequested, cupti::BufferCompleted)> real{
      {"cuptiActivityRegisterCallbacks", "libcupti.so.13", kHookDeviceWork}, cupti::refuse};
  if (is_open()) cupti::yield_devices();
  return real.get(__builtin_return_address(0))(requested, completed);
}
