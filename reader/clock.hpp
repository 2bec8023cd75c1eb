// One clock for a run over several hosts. Times in a trace are CLOCK_MONOTONIC of its host, which starts at boot.
//
// Two traces of one boot share a clock. Between hosts, collectives that synchronise give bounds: no rank can leave
// before the last one has entered, so for ranks a and b of one matched collective
//     enter_b − leave_a  ≤  clock_b − clock_a  ≤  leave_b − enter_a.
// The offset is the middle between the tightest bounds, and half their distance is its uncertainty. Where the clocks
// drift so far apart that the bounds of the whole run contradict each other, the run is cut into stretches and the
// offset is interpolated between them. Hosts that share no group with the reference are reached through others;
// without any, the wall clock has to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/clock_stays.hpp"
#include "reader/run.hpp"

namespace plumbline::reader {

enum class ClockMethod { kReference, kCollectives, kWallClock };

struct HostClock {
  std::string host;
  std::string boot_id;
  ClockMethod method = ClockMethod::kReference;
  // Knots (time of the host's clock, what to add to it), in time; one when the offset is constant.
  struct Knot {
    std::uint64_t time_ns = 0;
    std::int64_t offset_ns = 0;
  };
  std::vector<Knot> knots;
  std::uint64_t uncertainty_ns = 0;  // the largest number: not known
  std::uint64_t matched = 0;         // collectives that the estimate rests on
};

class ClockAlignment {
 public:
  // Gives the stays of a trace that somebody has read already; without it the traces are read.
  using StaysOfTrace = std::function<std::vector<GroupStays>(std::size_t trace)>;
  static ClockAlignment estimate(const Run& run, const StaysOfTrace& stays_of = {});

  // A time of trace number `trace` (index in Run::traces()) on the clock of the first host.
  std::int64_t align(std::size_t trace, std::uint64_t time_ns) const;
  std::int64_t offset_at(std::size_t trace, std::uint64_t time_ns) const;
  const HostClock& clock_of(std::size_t trace) const { return hosts_[host_of_trace_[trace]]; }
  const std::vector<HostClock>& hosts() const { return hosts_; }

 private:
  std::vector<HostClock> hosts_;
  std::vector<std::size_t> host_of_trace_;
};

}  // namespace plumbline::reader
