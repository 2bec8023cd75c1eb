// The mapped ring file of a recording process: creation, and the hand-over of rings between threads and writer.
//
// A ring goes kFree → kActive (claim, by its new thread) → kClosing (release, by the thread as it ends) → kFree
// (reclaim, by the writer once it has everything). claim() is lock-free except for the first claim of a ring, which has
// the file system allocate its region.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recorder/identity.hpp"
#include "recorder/ring.hpp"
#include "recorder/settings.hpp"

namespace plumbline::recorder {

class RingMap {
 public:
  // Lays the file out and maps it. A sentence when that fails.
  std::optional<std::string> create(int fd, const Settings& settings, const Identity& identity,
                                    const std::string& trace_name);

  // Who gives the file's descriptor from now on: the job may close the one that create() was given. From any thread.
  using Descriptor = int (*)(void* owner);
  void take_descriptor_from(Descriptor descriptor, void* owner) noexcept {
    descriptor_ = descriptor;
    owner_ = owner;
  }

  enum class Which { kAny, kSmall };
  // A ring for the calling thread; null when all are taken or the disk is full (see allocation_failed()).
  RingHeader* claim(Which which) noexcept;
  static void release(RingHeader& ring) noexcept;

  // Gives a drained ring whose thread has ended back. For the writer.
  static void reclaim(RingHeader& ring) noexcept;

  RingFileHeader& header() const noexcept { return *reinterpret_cast<RingFileHeader*>(base_); }
  std::uint32_t count() const noexcept { return header().ring_count; }
  RingHeader& ring(std::uint32_t index) const noexcept {
    return reinterpret_cast<RingHeader*>(base_ + kRingFileHeaderBytes)[index];
  }
  std::uint32_t index_of(const RingHeader& ring) const noexcept {
    return static_cast<std::uint32_t>(&ring - &this->ring(0));
  }
  std::uint64_t hook_total(unsigned hook) const noexcept;

  // errno of the allocation that failed, 0 none.
  int allocation_failed() const noexcept { return allocation_error_.load(std::memory_order_relaxed); }

  // Stores what promote() learnt, for a reader that finds the ring alone.
  void name_trace(const std::string& trace_name, const Identity& identity) noexcept;

  // Recording is over though the process is not, and why; then that the process came to its end. For the reader, who
  // would else take it for one that was killed.
  void note_stop(std::string_view reason) noexcept;
  bool stopped() const noexcept { return header().stopped_ns.load(std::memory_order_acquire) != 0; }
  void note_exit(std::int32_t status) noexcept;

  // In the child of a fork: the parent's rings must not be written to.
  void unmap() noexcept;

 private:
  int allocate(std::uint64_t offset, std::uint64_t bytes) noexcept;

  int fd_ = -1;  // as create() was given it
  Descriptor descriptor_ = nullptr;
  void* owner_ = nullptr;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::atomic<int> allocation_error_{0};
};

}  // namespace plumbline::recorder
