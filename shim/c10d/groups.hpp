// Per process group: its id in the trace and the numbers of its next calls. A table that only grows, lock-free, so
// that a call costs one probe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plumbline::shim {

class Groups {
 public:
  struct Call {
    std::uint64_t group;
    std::uint64_t seq;
  };

  // Numbers the next call of a group. `group` is what the adapter knows it by; where that is 0, the backend stands for
  // the group, under a name that tells only the order in which such groups were first used ("gloo#0").
  Call next(std::uint64_t group, const void* backend, const char* backend_name, bool point_to_point) noexcept;

 private:
  struct Entry {
    std::atomic<std::uint64_t> key;
    std::atomic<std::uint64_t> group;
    std::atomic<std::uint64_t> collectives;
    std::atomic<std::uint64_t> point_to_points;
  };
  // The last one is shared by all groups beyond the others.
  static constexpr std::size_t kEntries = 1024;

  Entry& entry_of(std::uint64_t key) noexcept;
  void name(Entry& entry, const void* backend, const char* backend_name) noexcept;

  std::array<Entry, kEntries> entries_{};
  std::atomic<std::uint32_t> unnamed_{0};
};

}  // namespace plumbline::shim
