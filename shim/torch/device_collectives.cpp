#include "shim/torch/device_collectives.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#if PLUMBLINE_WITH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

#include <atomic>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "shim/torch/c10d_group.hpp"
#include "shim/torch/capture_part.hpp"
#include "shim/torch/collective_captures.hpp"
#include "shim/torch/collective_tensors.hpp"
#include "shim/torch/collective_window.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/unseen.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Op;
using Parts = std::vector<CollectivePart>;

constexpr std::uint64_t kMostOfCall = 64 << 20;   // bytes of its tensors
constexpr std::uint64_t kMostPinned = 256 << 20;  // of all calls that wait
constexpr std::size_t kMostExpected = 256;

struct DeviceCall {
  CollectiveCapture call;
  std::vector<RememberedPart> in;  // on the device, without keeping them
  std::vector<RememberedPart> out;
  Parts given;  // pinned copies
  Parts left;
  std::uint64_t bytes = 0;
  void* stream = nullptr;
  std::optional<c10::Event> arrived;
};

struct DeviceCalls {
  std::mutex lock;
  std::map<std::uint64_t, DeviceCall> expected;  // by id, so the oldest first
  std::deque<DeviceCall> copied;
  std::uint64_t pinned = 0;
};
// Never destroyed: a thread of the job may end a call during static destruction.
DeviceCalls& device_calls() {
  static auto* const made = new DeviceCalls;
  return *made;
}
std::atomic<std::size_t> expected_count{0};
std::atomic<std::size_t> copied_count{0};

void note_counts(const DeviceCalls& calls) {
  expected_count.store(calls.expected.size(), std::memory_order_release);
  copied_count.store(calls.copied.size(), std::memory_order_release);
}

// Those that are one call of NCCL, or one group of them, and leave their result where the job sees it.
bool is_followed(Op op) noexcept {
  return op == Op::kAllReduce || op == Op::kBroadcast || op == Op::kReduce || op == Op::kAllGatherBase ||
         op == Op::kReduceScatterBase || op == Op::kAllToAllBase;
}

// Bytes of dense tensors on a CUDA device; 0 where one is not.
std::uint64_t device_bytes(const Parts& parts) {
  std::uint64_t bytes = 0;
  for (const CollectivePart& part : parts) {
    for (const at::Tensor& tensor : part.tensors) {
      if (!tensor.defined() || !tensor.is_cuda() || !tensor.is_contiguous()) return 0;
      bytes += tensor.nbytes();
    }
  }
  return bytes;
}

std::vector<RememberedPart> remember(const Parts& parts) {
  return std::vector<RememberedPart>(parts.begin(), parts.end());
}

#if PLUMBLINE_WITH_CUDA
// In the current stream. Nothing where a tensor is gone.
std::optional<Parts> copies(const std::vector<RememberedPart>& parts) {
  const Unseen unseen;
  Parts made;
  for (const RememberedPart& remembered : parts) {
    std::optional<CollectivePart> part = remembered.part();
    if (!part) return std::nullopt;
    for (at::Tensor& tensor : part->tensors) {
      const auto options = tensor.options().device(at::kCPU).pinned_memory(true).requires_grad(false);
      at::Tensor host = at::empty(tensor.sizes(), options);
      host.copy_(tensor, /*non_blocking=*/true);
      tensor = std::move(host);
    }
    made.push_back(std::move(*part));
  }
  return made;
}

c10::Stream stream_of(const std::vector<RememberedPart>& in, const std::vector<RememberedPart>& out, void* stream) {
  const auto part = (in.empty() ? out : in).front().part();
  const c10::Device device = part->tensors.front().device();
  return c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), device.index()).unwrap();
}

// False when the call is to be forgotten.
bool copy_side(DeviceCall& call, bool done) {
  const c10::Stream stream = stream_of(call.in, call.out, call.stream);
  const c10::StreamGuard guard(stream);
  std::optional<Parts> made = copies(done ? call.out : call.in);
  if (!made) return false;
  (done ? call.left : call.given) = std::move(*made);
  if (done) {
    call.arrived.emplace(stream.device_type());
    call.arrived->record(stream);
  }
  return true;
}
#else
bool copy_side(DeviceCall&, bool) { return false; }
#endif

void write(const DeviceCall& call) {
  for (std::size_t i = 0; i < call.given.size(); ++i) capture_input(call.call, call.given[i], i, call.given.size());
  for (std::size_t i = 0; i < call.left.size(); ++i) {
    capture_output(call.call, RememberedPart(call.left[i]), i, call.left.size(), {});
  }
}

void forget(DeviceCalls& calls, std::map<std::uint64_t, DeviceCall>::iterator call) {
  calls.pinned -= call->second.bytes;
  calls.expected.erase(call);
}

// Calls that raised, or went another way: those of earlier steps, and the oldest where there are too many.
void forget_stale(DeviceCalls& calls, std::int64_t step) {
  for (auto call = calls.expected.begin(); call != calls.expected.end();) {
    const auto next = std::next(call);
    if (call->second.call.step != step || calls.expected.size() >= kMostExpected) forget(calls, call);
    call = next;
  }
}

}  // namespace

void expect_device_call(Op op, void* backend, void* const* arguments,
                        const recorder::CollectiveRecord* record) noexcept {
  if (!is_followed(op) || host().level() != recorder::Level::kDiagnose) return;
  const std::int64_t step = step_of_collective(record->group, record->seq);
  if (step < 0) return;
  write_device_calls();
  try {
    const int size = group_size(backend);
    const CollectiveTensors tensors = collective_tensors(op, Arguments(arguments), rank_in_group(backend), size);
    const std::uint64_t bytes = device_bytes(tensors.in) + device_bytes(tensors.out);
    if (bytes == 0 || bytes > kMostOfCall) return;
    DeviceCall call;
    call.call = describe_capture(op, *record, arguments, tensors, size);
    call.call.step = step;
    call.in = remember(tensors.in);
    call.out = remember(tensors.out);
    call.bytes = bytes;
    DeviceCalls& calls = device_calls();
    const std::lock_guard hold(calls.lock);
    forget_stale(calls, step);
    if (calls.pinned + bytes > kMostPinned) return;
    calls.pinned += bytes;
    calls.expected.insert_or_assign(record->id, std::move(call));
    note_counts(calls);
  } catch (const std::exception&) {
    return;
  }
}

void device_call(std::uint64_t id, void* stream, bool done) noexcept {
  if (expected_count.load(std::memory_order_acquire) == 0) return;
  try {
    DeviceCalls& calls = device_calls();
    const std::lock_guard hold(calls.lock);
    const auto found = calls.expected.find(id);
    if (found == calls.expected.end()) return;
    DeviceCall& call = found->second;
    // The first of a group's calls brings the inputs, the group's end the outputs.
    if (done ? call.stream == nullptr : call.stream != nullptr) return;
    if (!done) call.stream = stream;
    bool kept = false;
    try {
      kept = copy_side(call, done);
    } catch (const std::exception&) {
      kept = false;
    }
    if (kept && !done) return;
    if (kept) {
      calls.copied.push_back(std::move(call));
      calls.expected.erase(found);
    } else {
      forget(calls, found);
    }
    note_counts(calls);
  } catch (const std::exception&) {
    return;
  }
}

void write_device_calls() noexcept {
  if (copied_count.load(std::memory_order_acquire) == 0) return;
  try {
    DeviceCalls& calls = device_calls();
    const std::lock_guard hold(calls.lock);
    while (!calls.copied.empty() && calls.copied.front().arrived->query()) {
      const DeviceCall call = std::move(calls.copied.front());
      calls.copied.pop_front();
      calls.pinned -= call.bytes;
      write(call);
    }
    note_counts(calls);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace plumbline::shim::adapter
