// How far a process says it has come in each of its groups, where a source reports that apart from its calls.
//
// PyTorch's flight recorder, its watchdog and ncclras give for each group the number of the last call that was
// enqueued, started and completed. That can be all there is: a rank that hangs before its next call may have no calls
// left in its dump, and only these numbers show where it stopped. A trace carries them as facts; native traces have
// none, there the calls say it.
//
//   for (const GroupStatus& status : group_statuses(trace))
//     if (!status.counts_point_to_point) compare(trace.group(status.group), status.enqueued);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/trace.hpp"

namespace plumbline::reader {

struct GroupStatus {
  std::uint64_t group = 0;  // Trace::group()
  // Numbers as Collective::seq counts; -1: not known.
  std::int64_t enqueued = -1;
  std::int64_t started = -1;
  std::int64_t completed = -1;
  // The numbers are, or may be, those of sends and receives, which count apart and differ from rank to rank.
  bool counts_point_to_point = false;
};

// In the order of the trace's facts; empty for most traces.
std::vector<GroupStatus> group_statuses(const Trace& trace);

// The fact that carries a status, and back; nothing when the fact is another one.
std::pair<std::string, std::string> fact_of(const GroupStatus& status);
std::optional<GroupStatus> group_status_of(std::string_view key, std::string_view value);

}  // namespace plumbline::reader
