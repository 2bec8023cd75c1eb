// When gloo's calls really run, and who waits for them.
//
// A gloo collective is a work object that a worker thread of the backend executes; sends and receives are executed by
// the transport, and only waiting for them shows their end.
#include "recorder/recorder.hpp"
#include "shim/c10d/call_end.hpp"
#include "shim/c10d/marks.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/current_call.hpp"
#include "shim/core/real_function.hpp"

namespace plumbline::shim {
namespace {

using recorder::Kind;
using recorder::Outcome;

constexpr const char* kOwner = "libtorch_cpu.so";

std::uint64_t begin_wait(std::uint64_t call, const void* frame) noexcept {
  recorder::hook_fired(kHookWorkWait);
  const std::uint64_t now = push_mark(Kind::kWait, call);
  recorder::set_in_flight(Kind::kWait, 0, now, call, frame);
  return now;
}

void end_wait(std::uint64_t call, const void* frame) noexcept {
  recorder::clear_in_flight(frame);
  push_mark(Kind::kWaitEnd, call, Outcome::kCompleted);
}

void finish(const void* work, Outcome outcome_of_work) noexcept {
  if (!is_open()) return;
  const std::uint64_t call = works.take(work);
  Outcome outcome{};
  if (pending_calls.end(call, outcome_of_work, &outcome)) end_call(call, outcome);
}

using Wait = bool(void* work, std::int64_t timeout_ms);
bool no_wait(void* /*work*/, std::int64_t /*timeout_ms*/) { return true; }

// Waiting for a send or receive shows its end too, so two marks are in flight: if the wait raises, the transfer has
// failed. They must lie in different frames; the second pretends to be nested in the first.
[[gnu::always_inline]] inline bool wait_for_transfer(RealFunction<Wait>& real, void* work, std::int64_t timeout_ms) {
  const auto function = real.get(__builtin_return_address(0));
  const auto* frame = static_cast<const char*>(__builtin_frame_address(0));
  const std::uint64_t call = is_open() ? works.take(work) : 0;
  if (call == 0) return function(work, timeout_ms);
  const std::uint64_t begin = begin_wait(call, frame);
  recorder::set_in_flight(Kind::kCollective, 0, begin, call, frame - 1);
  const bool completed = function(work, timeout_ms);
  recorder::clear_in_flight(frame - 1);
  end_call(call, completed ? Outcome::kCompleted : Outcome::kFailed);
  end_wait(call, frame);
  return completed;
}

}  // namespace
}  // namespace plumbline::shim

// ProcessGroupGloo::enqueue(intrusive_ptr<AsyncWork>): the pointer is passed by the address of a temporary.
extern "C" [[gnu::visibility("default")]] void
_ZN4c10d16ProcessGroupGloo7enqueueEN3c1013intrusive_ptrINS0_9AsyncWorkENS1_6detail34intrusive_target_default_null_typeIS3_EEEE(
    void* backend, const void** work) {
  using namespace plumbline::shim;
  static constinit RealFunction<void(void*, const void**)> real{
      {"_ZN4c10d16ProcessGroupGloo7enqueueEN3c1013intrusive_ptrINS0_9AsyncWorkENS1_6detail34intrusive_target_default_"
       "null_"
       "typeIS3_EEEE",
       kOwner, kHookGlooWork},
      [](void*, const void**) {}};
  const CurrentCall call = enclosing_call(__builtin_frame_address(0));
  if (call.collective != 0) {
    thread_call->works = call.works + 1;
    thread_call->last_work = *work;
    pending_calls.add_work(call.collective);
    works.insert(*work, call.collective);
  }
  real.get(__builtin_return_address(0))(backend, work);
}

// ProcessGroupGloo::AsyncWork::execute(const intrusive_ptr<AsyncWork>&), on a worker thread.
extern "C" [[gnu::visibility("default")]] void
_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_default_null_typeIS1_EEEE(
    const void* const* work) {
  using namespace plumbline::shim;
  static constinit RealFunction<void(const void* const*)> real{
      {"_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_default_"
       "null_"
       "typeIS1_EEEE",
       kOwner, kHookGlooWork},
      [](const void* const*) {}};
  if (is_open()) {
    plumbline::recorder::hook_fired(kHookGlooWork);
    const std::uint64_t call = works.find(*work);
    if (pending_calls.begin(call)) begin_call(call);
  }
  real.get(__builtin_return_address(0))(work);
}

// ProcessGroupGloo::AsyncWork::finishWorkGloo(), before those who wait are woken.
extern "C" [[gnu::visibility("default")]] void _ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv(void* work) {
  using namespace plumbline::shim;
  static constinit RealFunction<void(void*)> real{
      {"_ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv", kOwner, kHookGlooWork}, [](void*) {}};
  finish(work, Outcome::kCompleted);
  real.get(__builtin_return_address(0))(work);
}

// ProcessGroupGloo::AsyncWork::finishWorkGlooError(const std::exception_ptr&)
extern "C" [[gnu::visibility("default")]] void
_ZN4c10d16ProcessGroupGloo9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_ptrE(void* work,
                                                                                                 const void* error) {
  using namespace plumbline::shim;
  static constinit RealFunction<void(void*, const void*)> real{
      {"_ZN4c10d16ProcessGroupGloo9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_ptrE", kOwner,
       kHookGlooWork},
      [](void*, const void*) {}};
  finish(work, Outcome::kFailed);
  real.get(__builtin_return_address(0))(work, error);
}

// ProcessGroupGloo::SendWork::wait(std::chrono::milliseconds)
extern "C" [[gnu::visibility("default")]] bool
_ZN4c10d16ProcessGroupGloo8SendWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE(void* work,
                                                                                      std::int64_t timeout_ms) {
  using namespace plumbline::shim;
  static constinit RealFunction<Wait> real{
      {"_ZN4c10d16ProcessGroupGloo8SendWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE", kOwner, kHookWorkWait},
      no_wait};
  return wait_for_transfer(real, work, timeout_ms);
}

// ProcessGroupGloo::RecvWork::wait(std::chrono::milliseconds)
extern "C" [[gnu::visibility("default")]] bool
_ZN4c10d16ProcessGroupGloo8RecvWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE(void* work,
                                                                                      std::int64_t timeout_ms) {
  using namespace plumbline::shim;
  static constinit RealFunction<Wait> real{
      {"_ZN4c10d16ProcessGroupGloo8RecvWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE", kOwner, kHookWorkWait},
      no_wait};
  return wait_for_transfer(real, work, timeout_ms);
}

// c10d::Work::wait(std::chrono::milliseconds): collectives of gloo and every backend that does not override it.
extern "C" [[gnu::visibility("default")]] bool _ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE(
    void* work, std::int64_t timeout_ms) {
  using namespace plumbline::shim;
  static constinit RealFunction<Wait> real{
      {"_ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE", kOwner, kHookWorkWait}, no_wait};
  const auto function = real.get(__builtin_return_address(0));
  const std::uint64_t call = is_open() ? works.find(work) : 0;
  if (call == 0) return function(work, timeout_ms);
  begin_wait(call, __builtin_frame_address(0));
  const bool completed = function(work, timeout_ms);
  end_wait(call, __builtin_frame_address(0));
  return completed;
}
