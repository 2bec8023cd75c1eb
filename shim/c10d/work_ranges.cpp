// The range that torch opens around each call of a backend ("gloo:all_reduce") as soon as anybody observes ranges.
//
// It tells us nothing that the call has not told, and is dear: a shared object, a copy of the thread's state for the
// thread that ends it, two passes through the observers. So where ours is the only observer, the range is built as if
// there were none. Any other observer, a profiler say, gets it as ever. While the level is `off`, no range of the job
// is built for ours.
#include "recorder/recorder.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/current_call.hpp"
#include "shim/core/real_function.hpp"

namespace plumbline::shim {
namespace {

using Construct = void(void* range, std::uint8_t scope);

// Before a process is known to train, the range of an optimizer step is what tells.
bool is_switched_off() noexcept { return !recorder::active() && recorder::promoted(); }

void construct_by_adapter(void* range, std::uint8_t scope) {
  if (const PlumblineAdapter* adapter = adapter_for_call()) adapter->construct_range(range, scope);
}

}  // namespace
}  // namespace plumbline::shim

// at::RecordFunction::RecordFunction(at::RecordScope)
extern "C" [[gnu::visibility("default")]] void _ZN2at14RecordFunctionC1ENS_11RecordScopeE(void* range,
                                                                                          std::uint8_t scope) {
  using namespace plumbline::shim;
  static constinit RealFunction<Construct> real{
      {"_ZN2at14RecordFunctionC1ENS_11RecordScopeE", "libtorch_cpu.so", kHookGlooWork}, construct_by_adapter};
  if (enclosing_call(__builtin_frame_address(0)).collective != 0 || is_switched_off()) {
    if (const PlumblineAdapter* adapter = adapter_for_call()) return adapter->construct_range(range, scope);
  }
  real.get(__builtin_return_address(0))(range, scope);
}
