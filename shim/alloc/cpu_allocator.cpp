// Hooks of c10::alloc_cpu and c10::free_cpu, through which every CPU tensor gets and gives back its memory.
//
// A free is reported before the real one and an allocation after it, so that two threads which hand an address to each
// other never seem to own it at once. alloc_cpu throws where it fails: the in-flight mark makes that visible without a
// frame of ours taking part in the unwinding, which is also why alloc_cpu is not noexcept here.
#include <cstdlib>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/real_function.hpp"
#include "shim/stacks/allocation_stacks.hpp"

namespace plumbline::shim {
namespace {

constexpr std::uint32_t kTag = recorder::alloc_tag(recorder::Source::kCpu, -1);

// From here on a request is dear enough, and likely enough to fail, that its mark gets a clock reading of its own.
constexpr std::size_t kLargeRequest = 1 << 20;

// What c10 promises its callers: 64-byte alignment.
void* allocate_without_c10(std::size_t size) {
  void* address = nullptr;
  return size != 0 && posix_memalign(&address, 64, size) == 0 ? address : nullptr;
}

constinit RealFunction<void*(std::size_t)> real_alloc{{"_ZN3c109alloc_cpuEm", "libc10.so", kHookAllocCpu},
                                                      allocate_without_c10};
constinit RealFunction<void(void*)> real_free{{"_ZN3c108free_cpuEPv", "libc10.so", kHookFreeCpu}, std::free};

recorder::AllocRecord record_of(recorder::Kind kind, const void* address, std::size_t size) noexcept {
  return {{recorder::now_ns(), kind, recorder::slots_of<recorder::AllocRecord>(), 0, kTag},
          reinterpret_cast<std::uint64_t>(address),
          size};
}

}  // namespace
}  // namespace plumbline::shim

extern "C" [[gnu::visibility("default")]] void* _ZN3c109alloc_cpuEm(std::size_t size) {
  using namespace plumbline;
  using namespace plumbline::shim;
  const auto real = real_alloc.get(__builtin_return_address(0));
  if (!is_open() && !open_for(Evidence::kAllocation)) [[unlikely]]
    return real(size);

  recorder::hook_fired(kHookAllocCpu);
  std::uint64_t entered_ns = 0;
  if (size >= kLargeRequest) {
    stacks::note_request(size);
    entered_ns = recorder::now_ns();
  }
  recorder::set_in_flight(recorder::Kind::kAllocFailed, kTag, entered_ns, size);
  void* address = real(size);
  recorder::clear_in_flight();
  // Nothing was allocated for a size of zero.
  if (address != nullptr) recorder::push(record_of(recorder::Kind::kAlloc, address, size).header);
  return address;
}

extern "C" [[gnu::visibility("default")]] void _ZN3c108free_cpuEPv(void* address) {
  using namespace plumbline;
  using namespace plumbline::shim;
  if (is_open() && address != nullptr) {
    recorder::hook_fired(kHookFreeCpu);
    recorder::push(record_of(recorder::Kind::kFree, address, 0).header);
  }
  real_free.get(__builtin_return_address(0))(address);
}
