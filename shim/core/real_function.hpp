// The function that a hook stands in front of.
//
//   RealFunction<void*(std::size_t)> real_alloc{{"_ZN3c109alloc_cpuEm", "libc10.so", kHookAllocCpu}, fallback};
//   return real_alloc.get(__builtin_return_address(0))(size);
//
// It is looked up once, in the library that owns it, or in the library that called the hook. RTLD_DEFAULT and its
// relatives cannot find it: Python loads torch with RTLD_LOCAL, outside every scope that they search. Where it cannot
// be found, the fallback stands in, the hook is reported as off, and one line says so.
#pragma once

#include <atomic>

#include "shim/hook_list.hpp"

namespace plumbline::shim {

struct RealFunctionName {
  const char* symbol;
  const char* owner;  // soname of the library that defines it
  Hook hook;
};

// Null when neither library defines the symbol, or only our own interposer does. `caller` is any address in the
// library that called the hook.
void* find_real_function(const RealFunctionName& name, const void* caller) noexcept;

template <class Signature>
class RealFunction;

template <class Result, class... Arguments>
class RealFunction<Result(Arguments...)> {
 public:
  using Pointer = Result (*)(Arguments...);

  constexpr RealFunction(RealFunctionName name, Pointer fallback) noexcept : name_(name), fallback_(fallback) {}

  Pointer get(const void* caller) noexcept {
    const Pointer found = found_.load(std::memory_order_relaxed);
    return found != nullptr ? found : find(caller);
  }

 private:
  [[gnu::cold, gnu::noinline]] Pointer find(const void* caller) noexcept {
    void* address = find_real_function(name_, caller);
    const Pointer found = address != nullptr ? reinterpret_cast<Pointer>(address) : fallback_;
    found_.store(found, std::memory_order_relaxed);
    return found;
  }

  RealFunctionName name_;
  Pointer fallback_;
  std::atomic<Pointer> found_{nullptr};
};

}  // namespace plumbline::shim
