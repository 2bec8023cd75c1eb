#include "shim/c10d/backend_call.hpp"

#include "recorder/recorder.hpp"
#include "shim/c10d/call_end.hpp"
#include "shim/c10d/groups.hpp"
#include "shim/c10d/marks.hpp"
#include "shim/c10d/methods.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/adapter_loader.hpp"
#include "shim/core/current_call.hpp"
#include "shim/core/live_frame.hpp"
#include "shim/hook_list.hpp"
#include "shim/python/call_site.hpp"

namespace plumbline::shim {
namespace {

using recorder::Kind;
using recorder::Outcome;

constinit Groups groups;

}  // namespace

// A call entered from deeper than an open one is usually inside it. But after an exception the open one may be a relic,
// and the next call may come from a deeper place of the job; only the stack itself can tell.
bool BackendCall::is_inner() const noexcept {
  const CurrentCall outer = enclosing_call(frame_);
  if (outer.collective == 0) return false;
  if (is_live_frame(outer.frame, outer.caller)) return true;
  if (recorder::clear_in_flight(outer.frame)) push_mark(Kind::kCollectiveEnd, outer.collective, Outcome::kRaised);
  *thread_call = {};
  return false;
}

bool BackendCall::enter(void* backend, void* const* arguments) const noexcept {
  if (!open_for_training("a c10d backend was called") || !recorder::active() || is_inner()) return false;
  CurrentCall* const entry = own_call();
  if (entry == nullptr) return false;
  const PlumblineAdapter* adapter = adapter_for_call();
  recorder::hook_fired(kHookC10d);

  recorder::CollectiveRecord record{};
  record.header = {recorder::now_ns(), Kind::kCollective, recorder::slots_of<recorder::CollectiveRecord>(), 0,
                   recorder::collective_tag(method_.op, recorder::ReduceOp::kNone, recorder::Dtype::kUnknown,
                                            recorder::Layer::kC10d)};
  record.id = recorder::next_id();
  record.peer = -1;
  if (adapter != nullptr) {
    adapter->describe_collective(method_.described_as, backend, arguments, &record);
    record.header.tag = (record.header.tag & ~0xffu) | static_cast<std::uint32_t>(method_.op);
  }
  const Groups::Call numbered = groups.next(record.group, backend, method_.backend, is_point_to_point(method_.op));
  record.group = numbered.group;
  record.seq = numbered.seq;
  record.site = python::call_site();
  recorder::push(record.header);
  if (adapter != nullptr && method_.executes_works) {
    adapter->take_inputs(method_.described_as, backend, arguments, &record);
  } else if (adapter != nullptr) {
    adapter->expect_device_call(method_.described_as, backend, arguments, &record);
  }

  if (method_.executes_works && !is_point_to_point(method_.op)) {
    pending_calls.open(record.id, is_composite(method_.op));
    report_forgotten();
  }
  recorder::set_in_flight(Kind::kCollective, record.header.tag, record.header.time_ns, record.id, frame_);
  *entry = {record.id, record.group, frame_, caller_, 0, nullptr};
  return true;
}

void BackendCall::leave(const void* work) const noexcept {
  const CurrentCall call = *thread_call;
  *thread_call = {};
  recorder::clear_in_flight(frame_);
  if (method_.executes_works && is_point_to_point(method_.op)) {
    works.insert(work, call.collective);
    report_forgotten();
  } else if (call.works == 0) {
    push_mark(Kind::kCollectiveReturn, call.collective);
  } else if (is_composite(method_.op)) {
    // What is returned is none of the works: it waits for them and then copies.
    if (work != call.last_work) await_copies(call.collective);
    Outcome outcome{};
    if (pending_calls.release(call.collective, &outcome)) end_call(call.collective, outcome);
  }
}

void BackendCall::leave_done() const noexcept {
  const CurrentCall call = *thread_call;
  *thread_call = {};
  recorder::clear_in_flight(frame_);
  end_call(call.collective, Outcome::kCompleted);
}

}  // namespace plumbline::shim
