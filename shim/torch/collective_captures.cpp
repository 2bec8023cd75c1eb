#include "shim/torch/collective_captures.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include "recorder/operations.hpp"
#include "shim/torch/c10d_group.hpp"
#include "shim/torch/capture_part.hpp"
#include "shim/torch/collective_tensors.hpp"
#include "shim/torch/collective_window.hpp"
#include "shim/torch/reduce_operation.hpp"
#include "shim/torch/remembered_part.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::CollectiveRecord;
using recorder::Op;

// A call that was looked at and has not ended yet.
struct Open {
  CollectiveCapture call;
  std::vector<RememberedPart> in;
  std::vector<RememberedPart> out;
  std::vector<bool> taken{};  // of `out`, where outputs follow
  bool in_place = false;
  bool follows = false;  // its outputs are copied from elsewhere when the job waits for it
  bool changed = false;  // somebody wrote to what it was given
  bool shared = false;   // another call that is open leaves its results in the same place
};

// Calls that raised, or that nobody waited for, lie here till others need their place.
constexpr std::size_t kMostOpen = 4096;

struct OpenCalls {
  std::mutex lock;
  std::map<std::uint64_t, Open> calls;  // by id, so the oldest first
  std::size_t following = 0;
};
// Never destroyed: a thread of the job may end a call during static destruction.
OpenCalls& open_calls() {
  static auto* const made = new OpenCalls;
  return *made;
}
std::atomic<std::size_t> open_count{0};

void drop(OpenCalls& open, std::map<std::uint64_t, Open>::iterator call) {
  if (call->second.follows) --open.following;
  open.calls.erase(call);
  open_count.store(open.calls.size(), std::memory_order_release);
}

bool write_to_one_place(const Open& a, const Open& b) {
  for (const RememberedPart& one : a.out) {
    for (const RememberedPart& other : b.out) {
      if (one.overlaps(other)) return true;
    }
  }
  return false;
}

void keep(std::uint64_t id, Open call) {
  OpenCalls& open = open_calls();
  const std::lock_guard hold(open.lock);
  for (auto& [other_id, other] : open.calls) {
    if (!write_to_one_place(call, other)) continue;
    call.shared = other.shared = true;
  }
  if (open.calls.size() >= kMostOpen) drop(open, open.calls.begin());
  open.calls.insert_or_assign(id, std::move(call));
  open_count.store(open.calls.size(), std::memory_order_release);
}

// Takes a call out that has ended; false where it was not looked at, or has outputs to come.
bool take(std::uint64_t id, bool completed, Open& call) {
  OpenCalls& open = open_calls();
  const std::lock_guard hold(open.lock);
  const auto found = open.calls.find(id);
  if (found == open.calls.end() || (found->second.follows && completed)) return false;
  call = std::move(found->second);
  drop(open, found);
  return true;
}

// As JSON, with all of its digits.
std::string plain_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// Of what is reduced, samples show a change; of what is moved, all of it is compared.
bool is_compared_whole(Op op) noexcept { return !recorder::is_reduction(op); }

std::vector<RememberedPart> remember(const std::vector<CollectivePart>& parts, bool hashed) {
  std::vector<RememberedPart> remembered;
  for (const CollectivePart& part : parts) {
    remembered.emplace_back(part);
    remembered.back().look(hashed);
  }
  return remembered;
}

void note_change(Open& call) {
  for (const RememberedPart& part : call.in) call.changed = call.changed || part.changed();
}

void take_outputs(Open& call) {
  // The backend writes in place, or copies there itself (coalesced calls): only of others a change is the job's doing.
  if (!call.in_place) note_change(call);
  if (call.in_place && call.call.op != Op::kAllReduceCoalesced) {
    for (const RememberedPart& part : call.in) call.changed = call.changed || part.written();
  }
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    const bool apart = call.in.empty() || !call.in_place;
    capture_output(call.call, call.out[i], i, call.out.size(), {call.changed, call.shared, apart});
  }
  if (call.out.empty() && call.changed) capture_changed_input(call.call);
}

}  // namespace

CollectiveCapture describe_capture(Op op, const CollectiveRecord& record, void* const* arguments,
                                   const CollectiveTensors& tensors, int size) {
  CollectiveCapture call;
  call.op = op;
  call.id = record.id;
  call.name = recorder::kOpNames[record.header.tag & 0xff];
  call.detail = "{\"op\":" + std::to_string(record.header.tag & 0xff) +
                ",\"reduce\":" + std::to_string(record.header.tag >> 8 & 0xff) + ",\"group\":\"" +
                std::to_string(record.group) + "\",\"seq\":" + std::to_string(record.seq) +
                ",\"peer\":" + std::to_string(record.peer);
  const c10d::ReduceOp* const reduce = reduce_operation(op, Arguments(arguments));
  if (const auto factor = reduce != nullptr ? factor_of(*reduce) : std::nullopt)
    call.detail += ",\"factor\":" + plain_number(*factor);
  for (const auto* side : {&tensors.in, &tensors.out}) {
    for (const CollectivePart& part : *side) {
      if (part.blocks.size() > 1) call.divided = static_cast<std::uint64_t>(size);
    }
  }
  return call;
}

void take_inputs(Op op, void* backend, void* const* arguments, const CollectiveRecord* record) noexcept {
  const std::int64_t step = step_of_collective(record->group, record->seq);
  if (step < 0) return;
  try {
    const int size = group_size(backend);
    const CollectiveTensors tensors = collective_tensors(op, Arguments(arguments), rank_in_group(backend), size);
    if (tensors.in.empty() && tensors.out.empty()) return;
    Open call{describe_capture(op, *record, arguments, tensors, size), {}, {}};
    call.call.step = step;
    call.in_place = tensors.in_place;
    for (std::size_t i = 0; i < tensors.in.size(); ++i) capture_input(call.call, tensors.in[i], i, tensors.in.size());
    call.in = remember(tensors.in, !call.in_place && is_compared_whole(op));
    call.out = remember(tensors.out, false);
    call.taken.resize(call.out.size());
    keep(record->id, std::move(call));
  } catch (const std::exception&) {
    return;  // out of memory, or tensors of a kind that has no elements
  }
}

void collective_begins(std::uint64_t id) noexcept {
  if (open_count.load(std::memory_order_acquire) == 0) return;
  try {
    OpenCalls& open = open_calls();
    const std::lock_guard hold(open.lock);
    const auto found = open.calls.find(id);
    if (found != open.calls.end() && found->second.in_place) note_change(found->second);
  } catch (const std::exception&) {
    return;
  }
}

void collective_ends(std::uint64_t id, bool completed) noexcept {
  if (open_count.load(std::memory_order_acquire) == 0) return;
  try {
    Open call;
    if (take(id, completed, call) && completed) take_outputs(call);
  } catch (const std::exception&) {
    return;
  }
}

std::size_t outputs_follow(std::uint64_t id) noexcept {
  if (open_count.load(std::memory_order_acquire) == 0) return 0;
  OpenCalls& open = open_calls();
  const std::lock_guard hold(open.lock);
  const auto found = open.calls.find(id);
  if (found != open.calls.end() && !found->second.follows) {
    found->second.follows = true;
    ++open.following;
  }
  return open.following;
}

std::size_t tensor_copied(const void* opaque) noexcept {
  OpenCalls& open = open_calls();
  try {
    const std::lock_guard hold(open.lock);
    const auto& tensor = *static_cast<const at::Tensor*>(opaque);
    for (auto call = open.calls.begin(); call != open.calls.end(); ++call) {
      Open& one = call->second;
      for (std::size_t i = 0; one.follows && i < one.out.size(); ++i) {
        if (one.taken[i] || !one.out[i].holds(tensor)) continue;
        one.taken[i] = true;
        capture_output(one.call, one.out[i], i, one.out.size(), {false, one.shared, true});
        const bool done = std::find(one.taken.begin(), one.taken.end(), false) == one.taken.end();
        if (done) drop(open, call);
        return open.following;
      }
    }
    return open.following;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace plumbline::shim::adapter
