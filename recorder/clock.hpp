// The two clocks of a trace: CLOCK_MONOTONIC for every event, CLOCK_REALTIME once as an anchor.
#pragma once

#include <ctime>

#include <cstdint>

namespace plumbline::recorder {

inline std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

inline std::uint64_t monotonic_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }
inline std::uint64_t realtime_ns() noexcept { return read_clock(CLOCK_REALTIME); }

}  // namespace plumbline::recorder
