#include "recorder/ring_map.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "recorder/clock.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLargeRings = 8;     // the threads that a job starts with do most of the work
constexpr std::size_t kSmallFraction = 8;  // a later ring is this much smaller
constexpr std::size_t kMostRings = 4096;
constexpr std::size_t kFewestSlots = 32;
constexpr std::uint64_t kLeastChunk = 2048;  // slots, 64 KiB

// A small ring is one chunk: it lies in the caches anyway.
constexpr std::uint64_t chunk_of(std::uint64_t capacity) {
  return capacity < 4 * kLeastChunk ? capacity : std::max(kLeastChunk, capacity / kMostChunks);
}

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Counters lie right before the slots, and a ring's region is whole pages.
constexpr std::size_t region_bytes(std::uint64_t capacity) {
  return round_up(sizeof(HookCounters) + capacity * kSlotBytes);
}

// Slots of each ring. The first large one can be afforded always, and there is always a small one for the writer.
std::vector<std::uint64_t> plan_rings(const Settings& settings) {
  const std::uint64_t large = std::max<std::uint64_t>(std::bit_floor(settings.ring_bytes / kSlotBytes), kFewestSlots);
  const std::uint64_t small = std::max<std::uint64_t>(large / kSmallFraction, kFewestSlots);
  std::vector<std::uint64_t> capacities{large};
  std::uint64_t used = region_bytes(large) + region_bytes(small);
  const auto fits = [&](std::uint64_t capacity) {
    if (used + region_bytes(capacity) > settings.memory_bytes || capacities.size() + 1 >= kMostRings) return false;
    used += region_bytes(capacity);
    capacities.push_back(capacity);
    return true;
  };
  while (capacities.size() < kLargeRings && fits(large)) continue;
  while (fits(small)) continue;
  capacities.push_back(small);
  return capacities;
}

void copy_text(char* to, std::size_t size, std::string_view text) {
  const std::size_t length = std::min(size - 1, text.size());
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, size - length);
}

// Whether a page of the file that was never written costs nothing to read: a server of files would be asked for each.
bool is_on_local_disk(int fd) {
  constexpr auto kXfs = 0x58465342;  // XFS_SUPER_MAGIC, which linux/magic.h lacks
  struct statfs system {};
  if (fstatfs(fd, &system) != 0) return false;
  return system.f_type == EXT4_SUPER_MAGIC || system.f_type == kXfs || system.f_type == BTRFS_SUPER_MAGIC ||
         system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

std::optional<std::string> RingMap::create(int fd, const Settings& settings, const Identity& identity,
                                           const std::string& trace_name) {
  const std::vector<std::uint64_t> capacities = plan_rings(settings);
  const std::size_t headers = round_up(kRingFileHeaderBytes + capacities.size() * kRingHeaderBytes);
  std::size_t total = headers;
  for (const std::uint64_t capacity : capacities) total += region_bytes(capacity);

  // Growing a file past this limit would cost the job a SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < total) {
    return std::string("the limit on file sizes is below that of the ring file (PLUMBLINE_MEMORY_MB)");
  }
  if (ftruncate(fd, static_cast<off_t>(total)) != 0) {
    return std::string("cannot size the ring file: ") + std::strerror(errno);
  }
  if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(headers)); error != 0) {
    return std::string("no room for the ring file: ") + std::strerror(error);
  }
  void* mapping = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) {
    return std::string(
               "the file system of the run directory cannot map the ring file (set PLUMBLINE_DIR to one that "
               "can): ") +
           std::strerror(errno);
  }
  // Or the first touch of a ring would read ahead, by megabytes on some machines: a pause of the thread that touches
  // it, and memory for pages that may never be used.
  if (is_on_local_disk(fd)) madvise(mapping, total, MADV_RANDOM);
  fd_ = fd;
  base_ = static_cast<std::byte*>(mapping);
  bytes_ = total;

  std::size_t region = headers;
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    RingHeader& ring = reinterpret_cast<RingHeader*>(base_ + kRingFileHeaderBytes)[i];
    ring.capacity = capacities[i];
    ring.chunk = chunk_of(capacities[i]);
    // The slack of whole pages goes before the counters, so that the last slot ends with the region.
    ring.data_offset = region + region_bytes(capacities[i]) - capacities[i] * kSlotBytes;
    ring.slots_distance = ring.data_offset - (kRingFileHeaderBytes + i * kRingHeaderBytes);
    region += region_bytes(capacities[i]);
  }
  RingFileHeader& head = header();
  head.version = kRingVersion;
  head.ring_count = static_cast<std::uint32_t>(capacities.size());
  head.pid = identity.pid;
  head.start_monotonic_ns = monotonic_ns();
  head.start_realtime_ns = realtime_ns();
  copy_text(head.boot_id, sizeof(head.boot_id), identity.boot_id);
  name_trace(trace_name, identity);
  head.magic = kRingMagic;  // last: a file without it was never finished
  return std::nullopt;
}

RingHeader* RingMap::claim(Which which) noexcept {
  const std::uint32_t rings = count();
  for (std::uint32_t i = 0; i < rings; ++i) {
    RingHeader& ring = this->ring(which == Which::kAny ? i : rings - 1 - i);
    auto free = static_cast<std::uint32_t>(RingState::kFree);
    if (ring.state.load(std::memory_order_relaxed) != free) continue;
    if (!ring.state.compare_exchange_strong(free, static_cast<std::uint32_t>(RingState::kActive),
                                            std::memory_order_acq_rel)) {
      continue;
    }
    if (ring.generation == 0) {
      const std::size_t bytes = region_bytes(ring.capacity);
      const std::size_t end = ring.data_offset + ring.capacity * kSlotBytes;
      if (const int error = allocate(end - bytes, bytes); error != 0) {
        allocation_error_.store(error, std::memory_order_relaxed);
        ring.state.store(static_cast<std::uint32_t>(RingState::kFree), std::memory_order_release);
        return nullptr;
      }
    }
    ring.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    prctl(PR_GET_NAME, ring.thread_name);
    ++ring.generation;
    return &ring;
  }
  return nullptr;
}

int RingMap::allocate(std::uint64_t offset, std::uint64_t bytes) noexcept {
  const int saved_errno = errno;
  const int fd = descriptor_ != nullptr ? descriptor_(owner_) : fd_;
  const int error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  errno = saved_errno;
  return error;
}

void RingMap::release(RingHeader& ring) noexcept {
  ring.state.store(static_cast<std::uint32_t>(RingState::kClosing), std::memory_order_release);
}

void RingMap::reclaim(RingHeader& ring) noexcept {
  auto closing = static_cast<std::uint32_t>(RingState::kClosing);
  if (ring.state.load(std::memory_order_acquire) != closing) return;
  if (ring.head.load(std::memory_order_acquire) != ring.tail.load(std::memory_order_relaxed)) return;
  ring.state.store(static_cast<std::uint32_t>(RingState::kFree), std::memory_order_release);
}

std::uint64_t RingMap::hook_total(unsigned hook) const noexcept {
  std::uint64_t total = header().hook_fired[hook].load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count(); ++i) {
    RingHeader& ring = this->ring(i);
    // A ring that nobody has claimed yet may have no storage behind it.
    if (ring.state.load(std::memory_order_acquire) != static_cast<std::uint32_t>(RingState::kFree) ||
        ring.head.load(std::memory_order_acquire) != 0) {
      total += hook_counters(ring).fired[hook].load(std::memory_order_relaxed);
    }
  }
  return total;
}

void RingMap::name_trace(const std::string& trace_name, const Identity& identity) noexcept {
  RingFileHeader& head = header();
  copy_text(head.trace_name, sizeof(head.trace_name), trace_name);
  head.rank = identity.rank;
  head.attempt = identity.attempt;
}

void RingMap::note_stop(std::string_view reason) noexcept {
  copy_text(header().stop_reason, sizeof(RingFileHeader::stop_reason), reason);
  header().stopped_ns.store(monotonic_ns(), std::memory_order_release);
}

void RingMap::note_exit(std::int32_t status) noexcept {
  header().exit_status = status;
  header().exit_ns.store(monotonic_ns(), std::memory_order_release);
}

void RingMap::unmap() noexcept {
  if (base_ != nullptr) munmap(base_, bytes_);
  base_ = nullptr;
}

}  // namespace plumbline::recorder
