#include "shim/torch/caching_allocator.hpp"

#include <atomic>
#include <exception>

#include "shim/torch/host.hpp"
#include "shim/torch/unseen.hpp"

#if PLUMBLINE_WITH_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif

namespace plumbline::shim::adapter {

#if PLUMBLINE_WITH_CUDA

namespace {

namespace cca = c10::cuda::CUDACachingAllocator;
using recorder::AllocRecord;
using recorder::Kind;
using recorder::Source;

void push(Kind kind, Source source, int device, std::uint64_t address, std::uint64_t size) noexcept {
  AllocRecord record{};
  record.header = {host().now_ns(), kind, recorder::slots_of<AllocRecord>(), 0, recorder::alloc_tag(source, device)};
  record.address = address;
  record.size = size;
  host().push(&record.header);
}

// Runs under the allocator's lock: it pushes records, leaves the stack of a large request at its first sight, and calls
// nothing else. A block counts as free when the job gives
// it back, also while a stream still uses it. Blocks that a capture takes and gives back are not the job's; segments
// that it may add stay, and are.
void on_trace(const cca::TraceEntry& entry) noexcept {
  if (!host().active()) return;
  host().hook_fired(kHookCachingAllocator);
  switch (entry.action_) {
    case cca::TraceEntry::ALLOC:
      if (Unseen::here()) return;
      host().request_made(static_cast<std::uint64_t>(entry.size_));
      return push(Kind::kAlloc, Source::kCachingBlock, entry.device_, entry.addr_, entry.size_);
    case cca::TraceEntry::FREE_REQUESTED:
      if (Unseen::here()) return;
      return push(Kind::kFree, Source::kCachingBlock, entry.device_, entry.addr_, 0);
    case cca::TraceEntry::SEGMENT_ALLOC:
    case cca::TraceEntry::SEGMENT_MAP:
      return push(Kind::kAlloc, Source::kCachingSegment, entry.device_, entry.addr_, entry.size_);
    case cca::TraceEntry::SEGMENT_FREE:
    case cca::TraceEntry::SEGMENT_UNMAP:
      return push(Kind::kFree, Source::kCachingSegment, entry.device_, entry.addr_, 0);
    default:  // the failure itself comes through on_out_of_memory, also when the allocator keeps no history
      return;
  }
}

void on_out_of_memory(std::int64_t device, std::size_t requested, std::size_t, std::size_t) noexcept {
  if (!host().active()) return;
  host().hook_fired(kHookCachingAllocator);
  push(Kind::kAllocFailed, Source::kCachingBlock, static_cast<int>(device), 0, requested);
  host().request_failed(requested);
}

void attach() noexcept {
  try {
    cca::attachAllocatorTraceTracker(on_trace);
    cca::attachOutOfMemoryObserver(on_out_of_memory);
    report_hook(kHookCachingAllocator, true, "");
  } catch (const std::exception&) {
    report_hook(kHookCachingAllocator, false, "this allocator backend takes no observers");
  }
}

bool initialised() noexcept {
  cca::CUDAAllocator* const allocator = cca::get();
  return allocator != nullptr && allocator->initialized();
}

}  // namespace

void follow_caching_allocator() noexcept {
  static std::atomic<bool> attached{false};
  if (attached.load(std::memory_order_relaxed) || !initialised()) return;
  if (!attached.exchange(true)) attach();
}

#else

void follow_caching_allocator() noexcept {
  static std::atomic<bool> reported{false};
  if (reported.load(std::memory_order_relaxed) || reported.exchange(true)) return;
  report_hook(kHookCachingAllocator, false, "the adapter was built without CUDA");
}

#endif

}  // namespace plumbline::shim::adapter
