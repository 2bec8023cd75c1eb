#include "reader/launches.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace plumbline::reader {
namespace {

// Ranks of one launch start within this time, or are looked at more closely.
constexpr std::uint64_t kOneStart = 60'000'000'000;

bool same_boot(const Trace& a, const Trace& b) { return a.process().boot_id == b.process().boot_id; }

bool is_over_before(const Trace& earlier, const Trace& later) {
  return same_boot(earlier, later) && earlier.last_ns() < later.process().start_monotonic_ns;
}

// A process number is given out again; the moment at which a process began is its own.
bool is_same_process(const Trace& earlier, const Trace& later) {
  if (earlier.pid() != later.pid() || earlier.host() != later.host() || !same_boot(earlier, later)) return false;
  const std::string_view began = earlier.definitions().fact("process.began");
  return !began.empty() && began == later.definitions().fact("process.began") && is_over_before(earlier, later);
}

// What a launcher gives all ranks of a launch, and no two launches.
bool of_different_jobs(const Trace& a, const Trace& b) {
  constexpr std::array<std::string_view, 2> kJobs = {"env.TORCHELASTIC_RUN_ID", "env.SLURM_JOB_ID"};
  return std::any_of(kJobs.begin(), kJobs.end(), [&](std::string_view key) {
    const std::string_view one = a.early_fact(key);
    const std::string_view other = b.early_fact(key);
    return !one.empty() && !other.empty() && one != other && one != "none" && other != "none";
  });
}

// Can `later` be of the launch and attempt of `earlier`, another rank of it?
bool may_belong(const Trace& earlier, const Trace& later) {
  if (earlier.world_size() > 0 && later.world_size() > 0 && earlier.world_size() != later.world_size()) return false;
  if (of_different_jobs(earlier, later)) return false;
  const bool far = later.process().start_monotonic_ns > earlier.process().start_monotonic_ns + kOneStart;
  // Ranks that have met were alive at the same time.
  return !(far && earlier.rank_confirmed() && later.rank_confirmed() && is_over_before(earlier, later));
}

class Assignment {
 public:
  explicit Assignment(const std::vector<Trace>& traces) : traces_(traces) {
    result_.launch_of.assign(traces.size(), 0);
    for (std::size_t index = 0; index < traces.size(); ++index) result_.continued_in.push_back(index);
  }

  Launches run() {
    follow_processes();
    bool any_rank = false;
    for (std::size_t index = 0; index < traces_.size(); ++index) {
      if (traces_[index].rank() < 0) continue;
      any_rank = true;
      place(index, continues_[index] ? result_.launch_of[*continues_[index]] : launch_of_rank(index));
    }
    for (std::size_t index = 0; index < traces_.size(); ++index) {
      if (traces_[index].rank() >= 0) continue;
      place(index, any_rank ? started_last(index) : launch_without_ranks(index));
    }
    result_.count = std::max(1, static_cast<int>(starts_.size()));
    return std::move(result_);
  }

 private:
  void follow_processes() {
    continues_.resize(traces_.size());
    std::map<std::uint32_t, std::size_t> latest;  // by pid
    for (std::size_t index = 0; index < traces_.size(); ++index) {
      const auto [before, first] = latest.try_emplace(traces_[index].pid(), index);
      if (first) continue;
      if (is_same_process(traces_[before->second], traces_[index])) {
        result_.continued_in[before->second] = index;
        continues_[index] = before->second;
      }
      before->second = index;
    }
  }

  // The nth process of a rank and attempt belongs to launch n at least. Two that ran side by side are of one launch:
  // the second is a helper of the first that inherited its environment.
  int launch_of_rank(std::size_t index) {
    const Trace& trace = traces_[index];
    const auto [before, first] = of_rank_.try_emplace({trace.rank(), trace.attempt()}, index);
    int launch = 0;
    if (!first) {
      const Trace& earlier = traces_[before->second];
      const bool side_by_side = same_boot(earlier, trace) && trace.process().start_monotonic_ns <= earlier.last_ns();
      launch = result_.launch_of[before->second] + (side_by_side ? 0 : 1);
      before->second = index;
    }
    for (;; ++launch) {
      const auto member = latest_of_.find({launch, trace.attempt()});
      if (member == latest_of_.end() || may_belong(traces_[member->second], trace)) break;
    }
    latest_of_.insert_or_assign({launch, trace.attempt()}, index);
    return launch;
  }

  // A process without a rank goes with the launch that started last before it.
  int started_last(std::size_t index) const {
    int launch = 0;
    for (const auto& [number, start] : starts_)
      if (start <= traces_[index].process().start_realtime_ns) launch = number;
    return launch;
  }

  // Scripts without ranks that ran one after the other are a launch each.
  int launch_without_ranks(std::size_t index) {
    const int latest = static_cast<int>(starts_.size()) - 1;
    if (latest < 0) return 0;
    if (continues_[index]) return result_.launch_of[*continues_[index]];
    for (std::size_t before = 0; before < index; ++before)
      if (result_.launch_of[before] == latest && !is_over_before(traces_[before], traces_[index])) return latest;
    return latest + 1;
  }

  void place(std::size_t index, int launch) {
    result_.launch_of[index] = launch;
    starts_.try_emplace(launch, traces_[index].process().start_realtime_ns);
  }

  const std::vector<Trace>& traces_;
  Launches result_;
  std::vector<std::optional<std::size_t>> continues_;
  std::map<std::pair<int, int>, std::size_t> of_rank_;    // by rank and attempt: the latest
  std::map<std::pair<int, int>, std::size_t> latest_of_;  // by launch and attempt
  std::map<int, std::uint64_t> starts_;                   // by launch
};

}  // namespace

Launches tell_launches(const std::vector<Trace>& traces) { return Assignment(traces).run(); }

}  // namespace plumbline::reader
