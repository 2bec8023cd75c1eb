// Hooks of the two functions through which c10 raises its errors: where a request of alloc_cpu fails, they are the last
// place from which its stack can be seen. Any other error passes through.
#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/real_function.hpp"
#include "shim/stacks/allocation_stacks.hpp"

namespace plumbline::shim {
namespace {

using CheckFail = void(const char*, const char*, unsigned, const void*);
using EnforceNotMet = void(const char*, int, const char*, const void*, const void*);

void note_failed_allocation() noexcept {
  if (!is_open()) return;
  if (const std::uint64_t bytes = recorder::failing_allocation(); bytes != 0) stacks::note_failure(bytes);
}

// The callers are libraries that are linked against libc10.so, so it is there; and they do not expect to go on.
[[noreturn]] void no_error_function() noexcept { __builtin_trap(); }

}  // namespace
}  // namespace plumbline::shim

// c10::detail::torchCheckFail(const char* function, const char* file, uint32_t line, const std::string& message)
extern "C" [[gnu::visibility("default")]] void
_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(const char* function,
                                                                                             const char* file,
                                                                                             unsigned line,
                                                                                             const void* message) {
  using namespace plumbline::shim;
  static constinit RealFunction<CheckFail> real{
      {"_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "libc10.so",
       kHookAllocCpu},
      [](const char*, const char*, unsigned, const void*) { no_error_function(); }};
  note_failed_allocation();
  real.get(__builtin_return_address(0))(function, file, line, message);
}

// c10::ThrowEnforceNotMet(const char* file, int line, const char* condition, const std::string& message,
//                         const void* caller)
extern "C" [[gnu::visibility("default")]] void
_ZN3c1018ThrowEnforceNotMetEPKciS1_RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPKv(const char* file, int line,
                                                                                             const char* condition,
                                                                                             const void* message,
                                                                                             const void* caller) {
  using namespace plumbline::shim;
  static constinit RealFunction<EnforceNotMet> real{
      {"_ZN3c1018ThrowEnforceNotMetEPKciS1_RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPKv", "libc10.so",
       kHookAllocCpu},
      [](const char*, int, const char*, const void*, const void*) { no_error_function(); }};
  note_failed_allocation();
  real.get(__builtin_return_address(0))(file, line, condition, message, caller);
}
