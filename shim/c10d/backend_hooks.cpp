// The interposed methods of c10d's backends. The vtables of ProcessGroupGloo and ProcessGroupNCCL are filled by dynamic
// relocations, which find these definitions first.
#include "shim/c10d/backend_call.hpp"
#include "shim/c10d/methods.hpp"
#include "shim/core/real_function.hpp"

namespace plumbline::shim {
namespace {

template <class... Arguments>
WorkPtr nothing(void* /*backend*/, Arguments... /*arguments*/) {
  return {};
}
void nothing_done(void* /*backend*/, const void* /*options*/, bool /*all_ranks*/) {}

inline void* as_pointer(const void* reference) noexcept { return const_cast<void*>(reference); }
inline void* as_pointer(std::intptr_t number) noexcept { return reinterpret_cast<void*>(number); }

// Not noexcept, and no object here has a destructor of ours: an exception passes straight through.
template <class... Arguments>
[[gnu::always_inline]] inline WorkPtr forward(BackendCall::Method method,
                                              RealFunction<WorkPtr(void*, Arguments...)>& real, void* backend,
                                              Arguments... arguments) {
  const BackendCall call{method, __builtin_frame_address(0), __builtin_return_address(0)};
  const auto function = real.get(__builtin_return_address(0));
  void* const described[] = {as_pointer(arguments)...};
  const bool outermost = call.enter(backend, described);
  WorkPtr work = function(backend, arguments...);
  if (outermost) call.leave(work.get());
  return work;
}

constexpr const char* owner_of(const char* backend) noexcept {
  return backend[0] == 'g' ? "libtorch_cpu.so" : "libtorch_cuda.so";
}

constexpr const char* kGloo = "gloo";
constexpr const char* kNCCL = "nccl";

}  // namespace
}  // namespace plumbline::shim

#define PLUMBLINE_PARAMETERS_1 const void* a
#define PLUMBLINE_PARAMETERS_2 const void *a, const void *b
#define PLUMBLINE_PARAMETERS_3 const void *a, const void *b, const void *c
#define PLUMBLINE_PARAMETERS_5 const void *a, const void *b, const void *c, const void *d, const void *e
#define PLUMBLINE_PARAMETERS_S const void *a, int b, int c
#define PLUMBLINE_PARAMETERS_A const void *a, int b
#define PLUMBLINE_ARGUMENTS_1 a
#define PLUMBLINE_ARGUMENTS_2 a, b
#define PLUMBLINE_ARGUMENTS_3 a, b, c
#define PLUMBLINE_ARGUMENTS_5 a, b, c, d, e
#define PLUMBLINE_ARGUMENTS_S a, b, c
#define PLUMBLINE_ARGUMENTS_A a, b

#define PLUMBLINE_STRING_(text) #text
#define PLUMBLINE_STRING(text) PLUMBLINE_STRING_(text)
#define PLUMBLINE_SYMBOL(Backend, name, parameters) _ZN4c10d16ProcessGroup##Backend##name##E##parameters

#define PLUMBLINE_DEFINE_DESCRIBED(Backend, op, described_as, name, parameters, arity)                              \
  extern "C" [[gnu::visibility("default")]] plumbline::shim::WorkPtr PLUMBLINE_SYMBOL(Backend, name, parameters)(   \
      void* backend, PLUMBLINE_PARAMETERS_##arity) {                                                                \
    using namespace plumbline::shim;                                                                                \
    using plumbline::recorder::Op;                                                                                  \
    static constinit RealFunction<WorkPtr(void*, PLUMBLINE_PARAMETERS_##arity)> real{                               \
        {PLUMBLINE_STRING(PLUMBLINE_SYMBOL(Backend, name, parameters)), owner_of(k##Backend), kHookC10d}, nothing}; \
    return forward({Op::op, Op::described_as, k##Backend, k##Backend == kGloo}, real, backend,                      \
                   PLUMBLINE_ARGUMENTS_##arity);                                                                    \
  }
#define PLUMBLINE_DEFINE_METHOD(Backend, op, name, parameters, arity) \
  PLUMBLINE_DEFINE_DESCRIBED(Backend, op, op, name, parameters, arity)

PLUMBLINE_C10D_METHODS(PLUMBLINE_DEFINE_METHOD, Gloo)
PLUMBLINE_C10D_METHODS(PLUMBLINE_DEFINE_METHOD, NCCL)

// A gather into one tensor, from torch 2.15 on.
PLUMBLINE_DEFINE_DESCRIBED(NCCL, kGather, kAllGatherBase, 13gather_single, RN2at6TensorES3_RKNS_13GatherOptionsE, 3)

// Gloo alone has it: synchronous, made of sends and receives, and without a work object.
extern "C" [[gnu::visibility("default")]] void _ZN4c10d16ProcessGroupGloo16monitoredBarrierERKNS_14BarrierOptionsEb(
    void* backend, const void* options, bool all_ranks) {
  using namespace plumbline::shim;
  static constinit RealFunction<void(void*, const void*, bool)> real{
      {"_ZN4c10d16ProcessGroupGloo16monitoredBarrierERKNS_14BarrierOptionsEb", owner_of(kGloo), kHookC10d},
      nothing_done};
  const BackendCall call{
      {plumbline::recorder::Op::kMonitoredBarrier, plumbline::recorder::Op::kMonitoredBarrier, kGloo, false},
      __builtin_frame_address(0),
      __builtin_return_address(0)};
  const auto function = real.get(__builtin_return_address(0));
  void* const described[] = {as_pointer(options), as_pointer(static_cast<std::intptr_t>(all_ranks))};
  const bool outermost = call.enter(backend, described);
  function(backend, options, all_ranks);
  if (outermost) call.leave_done();
}
