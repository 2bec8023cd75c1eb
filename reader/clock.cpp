#include "reader/clock.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "reader/call_terms.hpp"
#include "reader/clock_bounds.hpp"
#include "reader/clock_stays.hpp"
#include "reader/collectives.hpp"

namespace plumbline::reader {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// What all ranks of a host say of one collective: the last to enter, the first to leave.
struct HostStay {
  std::size_t host = 0;
  std::uint64_t last_enter_ns = 0;
  std::uint64_t first_leave_ns = kNever;
};
using Matched = std::vector<HostStay>;  // one for each host that took part

HostStay& stay_of(Matched& matched, std::size_t host) {
  // Ranks of one host follow each other.
  const auto at = std::find_if(matched.rbegin(), matched.rend(), [&](const HostStay& s) { return s.host == host; });
  return at != matched.rend() ? *at : matched.emplace_back(HostStay{host, 0, kNever});
}

const HostStay* find_stay(const Matched& matched, std::size_t host) {
  const auto at = std::find_if(matched.begin(), matched.end(), [&](const HostStay& s) { return s.host == host; });
  return at == matched.end() ? nullptr : &*at;
}

// The same on every rank of the group.
std::uint64_t key_of(const Trace& trace, const Group& group) {
  std::uint64_t key = mixed(static_cast<std::uint64_t>(trace.launch()), static_cast<std::uint64_t>(trace.attempt()));
  key = mixed(key, std::hash<std::string>{}(group.name));
  for (const int rank : group.ranks) key = mixed(key, static_cast<std::uint64_t>(rank));
  return key;
}

// Collectives that more than one host took part in.
std::vector<Matched> match_hosts(const Run& run, const std::vector<std::vector<GroupStays>>& stays,
                                 const std::vector<std::size_t>& host_of) {
  std::vector<Matched> result;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (std::size_t trace = 0; trace < stays.size(); ++trace) {
    for (const GroupStays& own : stays[trace]) {
      const Group* const group = run.traces()[trace].group(own.group);
      if (group == nullptr) continue;
      const std::uint64_t key = key_of(run.traces()[trace], *group);
      for (const Stay& stay : own.stays) {
        const auto [at, fresh] = index.try_emplace(mixed(key, stay.seq), result.size());
        if (fresh) result.emplace_back();
        HostStay& host = stay_of(result[at->second], host_of[trace]);
        host.last_enter_ns = std::max(host.last_enter_ns, stay.enter_ns);
        host.first_leave_ns = std::min(host.first_leave_ns, stay.leave_ns);
      }
    }
  }
  std::erase_if(result, [](const Matched& matched) { return matched.size() < 2; });
  return result;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

// Aligns hosts one after the other, each through a host that is aligned already.
class Aligner {
 public:
  Aligner(const std::vector<Matched>& matched, std::vector<HostClock>& hosts)
      : matched_(matched), hosts_(hosts), known_(hosts.size()), of_host_(hosts.size()) {
    for (std::size_t index = 0; index < matched.size(); ++index) {
      for (const HostStay& stay : matched[index]) of_host_[stay.host].push_back(index);
    }
  }

  // Host 0 is the reference. Those that no chain of shared groups reaches get what the wall clocks say.
  void run(const std::vector<std::int64_t>& wall_minus_monotonic) {
    known_[0] = true;
    hosts_[0].knots = {{0, 0}};
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t host = 0; host < hosts_.size(); ++host) {
        if (known_[host] || !align(host)) continue;
        known_[host] = progress = true;
      }
    }
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (known_[host]) continue;
      hosts_[host].method = ClockMethod::kWallClock;
      hosts_[host].knots = {{0, wall_minus_monotonic[host] - wall_minus_monotonic[0]}};
      hosts_[host].uncertainty_ns = kNever;
    }
  }

 private:
  // The known host that shares most collectives with this one; none: its own number.
  std::size_t closest(std::size_t host) const {
    std::vector<std::size_t> shared(hosts_.size());
    for (const std::size_t index : of_host_[host]) {
      for (const HostStay& stay : matched_[index]) shared[stay.host] += known_[stay.host] ? 1 : 0;
    }
    const auto most = std::max_element(shared.begin(), shared.end());
    return *most == 0 ? host : static_cast<std::size_t>(most - shared.begin());
  }

  bool align(std::size_t host) {
    const std::size_t other = closest(host);
    if (other == host) return false;
    std::vector<ClockBound> bounds;
    for (const std::size_t index : of_host_[host]) {
      const HostStay* own = find_stay(matched_[index], host);
      const HostStay* stay = find_stay(matched_[index], other);
      if (own == nullptr || stay == nullptr) continue;
      bounds.push_back({own->last_enter_ns, difference(own->last_enter_ns, stay->first_leave_ns),
                        difference(own->first_leave_ns, stay->last_enter_ns)});
    }
    const HostClock& through = hosts_[other];
    HostClock& clock = hosts_[host];
    const ClockFit fit = fit_clock(bounds);
    clock.method = ClockMethod::kCollectives;
    clock.matched = bounds.size();
    clock.uncertainty_ns = fit.uncertainty_ns + through.uncertainty_ns;
    for (const HostClock::Knot& knot : fit.knots) {
      const std::uint64_t there = knot.time_ns - static_cast<std::uint64_t>(knot.offset_ns);
      clock.knots.push_back({knot.time_ns, offset_at(through.knots, there) - knot.offset_ns});
    }
    return true;
  }

  const std::vector<Matched>& matched_;
  std::vector<HostClock>& hosts_;
  std::vector<bool> known_;
  std::vector<std::vector<std::size_t>> of_host_;
};

std::vector<GroupStays> read_stays(const Trace& trace, std::size_t most) {
  StayKeeper keeper(most);
  read_collectives(trace, {.steps = false}, [&](const Collective& call) {
    keeper.add(call);
    return true;
  });
  return keeper.finish(trace);
}

}  // namespace

ClockAlignment ClockAlignment::estimate(const Run& run, const StaysOfTrace& stays_of) {
  ClockAlignment alignment;
  const std::size_t most = StayKeeper::most_in(run.traces().size());
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
    std::vector<std::vector<GroupStays>> stays(run.traces().size());
    run.for_each_trace(
        [&](std::size_t i, const Trace& trace) { stays[i] = stays_of ? stays_of(i) : read_stays(trace, most); });
    matched = match_hosts(run, stays, alignment.host_of_trace_);
  }
  Aligner(matched, alignment.hosts_).run(wall_minus_monotonic);
  return alignment;
}

std::int64_t ClockAlignment::offset_at(std::size_t trace, std::uint64_t time_ns) const {
  return reader::offset_at(clock_of(trace).knots, time_ns);
}

std::int64_t ClockAlignment::align(std::size_t trace, std::uint64_t time_ns) const {
  return static_cast<std::int64_t>(time_ns) + offset_at(trace, time_ns);
}

}  // namespace plumbline::reader
