#include "reader/clock.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>

#include "reader/clock_bounds.hpp"
#include "reader/collectives.hpp"
#include "reader/group_key.hpp"

namespace plumbline::reader {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// Collectives of one group that a trace contributes; evenly chosen beyond that.
constexpr std::size_t kMaxPerGroup = 4096;

// Operations that no rank can leave before the last one has entered.
bool synchronises(Op op) {
  switch (op) {
    case Op::kAllReduce:
    case Op::kAllReduceCoalesced:
    case Op::kAllGather:
    case Op::kAllGatherBase:
    case Op::kAllGatherCoalesced:
    case Op::kAllGatherIntoTensorCoalesced:
    case Op::kReduceScatter:
    case Op::kReduceScatterBase:
    case Op::kReduceScatterTensorCoalesced:
    case Op::kAllToAll:
    case Op::kAllToAllBase:
    case Op::kBarrier:
      return true;
    default:
      return false;
  }
}

struct Stay {
  std::uint64_t enter_ns = 0;
  std::uint64_t leave_ns = 0;
};

// A trace's collectives of one group, by number. Kept small by keeping only multiples of a power of two: two traces
// that have thinned out to different degrees still have numbers in common.
struct Stays {
  std::map<std::uint64_t, Stay> by_seq;
  std::uint64_t stride = 1;

  void add(std::uint64_t seq, Stay stay) {
    if (seq % stride != 0) return;
    by_seq[seq] = stay;
    if (by_seq.size() <= kMaxPerGroup) return;
    stride *= 2;
    std::erase_if(by_seq, [&](const auto& entry) { return entry.first % stride != 0; });
  }
};

using StaysByGroup = std::map<std::string, Stays>;

StaysByGroup stays_of(const Trace& trace) {
  std::unordered_map<std::uint64_t, Stays> by_id;
  read_collectives(trace, {.steps = false}, [&](const Collective& c) {
    const bool usable = c.layer == Layer::kC10d && c.outcome == Outcome::kCompleted && c.end_ns != 0 && c.group != 0;
    if (usable && synchronises(c.op)) by_id[c.group].add(c.seq, {std::max(c.enqueue_ns, c.start_ns), c.end_ns});
    return true;
  });
  StaysByGroup stays;
  for (auto& [id, group_stays] : by_id) {
    const Group* group = trace.group(id);
    if (group != nullptr && group->size > 1) stays[group_key(trace, *group)] = std::move(group_stays);
  }
  return stays;
}

// What all ranks of a host say of one collective: the last to enter, the first to leave.
struct HostStay {
  std::uint64_t last_enter_ns = 0;
  std::uint64_t first_leave_ns = kNever;
};
using Matched = std::map<std::size_t, HostStay>;  // by host

std::vector<Matched> match_hosts(const std::vector<StaysByGroup>& stays, const std::vector<std::size_t>& host_of) {
  std::map<std::pair<std::string, std::uint64_t>, Matched> matched;
  for (std::size_t trace = 0; trace < stays.size(); ++trace) {
    for (const auto& [group, group_stays] : stays[trace]) {
      for (const auto& [seq, stay] : group_stays.by_seq) {
        HostStay& host = matched[{group, seq}][host_of[trace]];
        host.last_enter_ns = std::max(host.last_enter_ns, stay.enter_ns);
        host.first_leave_ns = std::min(host.first_leave_ns, stay.leave_ns);
      }
    }
  }
  std::vector<Matched> result;
  for (auto& [key, hosts] : matched)
    if (hosts.size() > 1) result.push_back(std::move(hosts));
  return result;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

// Bounds between an unknown host and each host that is known already.
std::map<std::size_t, std::vector<ClockBound>> bounds_of(std::size_t host, const std::vector<Matched>& matched,
                                                         const std::vector<bool>& known) {
  std::map<std::size_t, std::vector<ClockBound>> bounds;
  for (const Matched& hosts : matched) {
    const auto own = hosts.find(host);
    if (own == hosts.end()) continue;
    for (const auto& [other, stay] : hosts) {
      if (!known[other]) continue;
      bounds[other].push_back({own->second.last_enter_ns, difference(own->second.last_enter_ns, stay.first_leave_ns),
                               difference(own->second.first_leave_ns, stay.last_enter_ns)});
    }
  }
  return bounds;
}

// Aligns one more host through the known host that it shares most collectives with. False: it shares none.
bool align_host(std::size_t host, const std::vector<Matched>& matched, const std::vector<bool>& known,
                std::vector<HostClock>& hosts) {
  auto bounds = bounds_of(host, matched, known);
  const auto best = std::max_element(bounds.begin(), bounds.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (best == bounds.end()) return false;
  const HostClock& through = hosts[best->first];
  HostClock& clock = hosts[host];
  const ClockFit fit = fit_clock(best->second);
  clock.method = ClockMethod::kCollectives;
  clock.matched = best->second.size();
  clock.uncertainty_ns = fit.uncertainty_ns + through.uncertainty_ns;
  for (const HostClock::Knot& knot : fit.knots) {
    const std::uint64_t there = knot.time_ns - static_cast<std::uint64_t>(knot.offset_ns);
    clock.knots.push_back({knot.time_ns, offset_at(through.knots, there) - knot.offset_ns});
  }
  return true;
}

// Host 0 is the reference. Those that no chain of shared groups reaches get what the wall clocks say.
void align_hosts(const std::vector<Matched>& matched, const std::vector<std::int64_t>& wall_minus_monotonic,
                 std::vector<HostClock>& hosts) {
  std::vector<bool> known(hosts.size());
  known[0] = true;
  hosts[0].knots = {{0, 0}};
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      if (known[host] || !align_host(host, matched, known, hosts)) continue;
      known[host] = progress = true;
    }
  }
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (known[host]) continue;
    hosts[host].method = ClockMethod::kWallClock;
    hosts[host].knots = {{0, wall_minus_monotonic[host] - wall_minus_monotonic[0]}};
    hosts[host].uncertainty_ns = kNever;
  }
}

}  // namespace

ClockAlignment ClockAlignment::estimate(const Run& run) {
  ClockAlignment alignment;
  std::vector<std::int64_t> wall_minus_monotonic;
  for (const Trace& trace : run.traces()) {
    const ProcessInfo& process = trace.process();
    // Without a boot id, processes of one host name are taken to share a clock.
    const auto known = std::find_if(alignment.hosts_.begin(), alignment.hosts_.end(), [&](const HostClock& host) {
      return process.boot_id.empty() ? host.host == process.host : host.boot_id == process.boot_id;
    });
    alignment.host_of_trace_.push_back(static_cast<std::size_t>(known - alignment.hosts_.begin()));
    if (known != alignment.hosts_.end()) continue;
    HostClock& host = alignment.hosts_.emplace_back();
    host.host = process.host;
    host.boot_id = process.boot_id;
    wall_minus_monotonic.push_back(difference(process.start_realtime_ns, process.start_monotonic_ns));
  }
  if (alignment.hosts_.empty()) return alignment;
  std::vector<Matched> matched;
  if (alignment.hosts_.size() > 1) {
    std::vector<StaysByGroup> stays(run.traces().size());
    run.for_each_trace([&](std::size_t i, const Trace& trace) { stays[i] = stays_of(trace); });
    matched = match_hosts(stays, alignment.host_of_trace_);
  }
  align_hosts(matched, wall_minus_monotonic, alignment.hosts_);
  return alignment;
}

std::int64_t ClockAlignment::offset_at(std::size_t trace, std::uint64_t time_ns) const {
  return reader::offset_at(clock_of(trace).knots, time_ns);
}

std::int64_t ClockAlignment::align(std::size_t trace, std::uint64_t time_ns) const {
  return static_cast<std::int64_t>(time_ns) + offset_at(trace, time_ns);
}

}  // namespace plumbline::reader
