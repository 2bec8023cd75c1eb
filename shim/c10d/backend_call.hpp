// What every hook of a c10d backend method does around the real call.
//
//   const BackendCall call{{Op::kAllReduce, Op::kAllReduce, "gloo", true}, __builtin_frame_address(0),
//   __builtin_return_address(0)}; const bool outermost = call.enter(backend, arguments); WorkPtr work = real(backend,
//   …); if (outermost) call.leave(work.get());
//
// Backends build some collectives from others (gloo's reduce-scatter calls its all-reduce): what the job called is the
// event, calls inside it are not. A call that raises never reaches leave(); the in-flight mark tells of it.
#pragma once

#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::shim {

// c10::intrusive_ptr<c10d::Work> as its caller sees it: one pointer, returned through a hidden address because it has a
// destructor. It is only ever built in place: the destructor and the copy exist in torch alone.
class WorkPtr {
 public:
  WorkPtr() noexcept = default;
  WorkPtr(const WorkPtr&);
  ~WorkPtr();
  const void* get() const noexcept { return work_; }

 private:
  const void* work_ = nullptr;
};

class BackendCall {
 public:
  struct Method {
    recorder::Op op;
    recorder::Op described_as;  // the operation whose arguments it has, for the adapter
    const char* backend;
    bool executes_works;  // begins and ends with work objects whose execution we see (gloo)
  };

  constexpr BackendCall(Method method, const void* frame, const void* caller) noexcept
      : method_(method), frame_(frame), caller_(caller) {}

  // True when the call is an event; it then has been recorded.
  bool enter(void* backend, void* const* arguments) const noexcept;
  void leave(const void* work) const noexcept;
  // For a method that is done when it returns.
  void leave_done() const noexcept;

 private:
  bool is_inner() const noexcept;

  Method method_;
  const void* frame_;
  const void* caller_;
};

}  // namespace plumbline::shim
