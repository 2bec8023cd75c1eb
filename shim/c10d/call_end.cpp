#include "shim/c10d/call_end.hpp"

#include <atomic>

#include "shim/c10d/marks.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/real_function.hpp"

namespace plumbline::shim {
namespace {

using recorder::Kind;
using recorder::Outcome;

constinit std::atomic<std::size_t> awaited{0};  // calls whose outputs follow

using Copy = void*(void* to, const void* from, bool non_blocking);

}  // namespace

void begin_call(std::uint64_t call) noexcept {
  push_mark(Kind::kCollectiveStart, call);
  if (const PlumblineAdapter* adapter = adapter_for_call()) adapter->collective_begins(call);
}

void end_call(std::uint64_t call, Outcome outcome) noexcept {
  push_mark(Kind::kCollectiveEnd, call, outcome);
  if (const PlumblineAdapter* adapter = adapter_for_call()) {
    adapter->collective_ends(call, outcome == Outcome::kCompleted);
  }
}

void await_copies(std::uint64_t call) noexcept {
  if (const PlumblineAdapter* adapter = adapter_for_call()) {
    awaited.store(adapter->outputs_follow(call), std::memory_order_relaxed);
  }
}

}  // namespace plumbline::shim

// at::Tensor::copy_. Gloo's reduce-scatter is an all-reduce of a copy; its wait() ends with copying this rank's part to
// where the job wants it, and nothing else shows when that has happened.
extern "C" [[gnu::visibility("default")]] void* _ZN2at4_ops5copy_4callERNS_6TensorERKS2_b(void* to, const void* from,
                                                                                          bool non_blocking) {
  using namespace plumbline::shim;
  static constinit RealFunction<Copy> real{
      {"_ZN2at4_ops5copy_4callERNS_6TensorERKS2_b", "libtorch_cpu.so", kHookGlooWork},
      [](void* target, const void*, bool) { return target; }};
  void* const result = real.get(__builtin_return_address(0))(to, from, non_blocking);
  if (awaited.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (const PlumblineAdapter* adapter = adapter_for_call()) {
      awaited.store(adapter->tensor_copied(to), std::memory_order_relaxed);
    }
  }
  return result;
}
