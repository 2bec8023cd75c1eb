#include "reader/run.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reader/parallel.hpp"
#include "reader/run_files.hpp"
#include "reader/trace_impl.hpp"

namespace plumbline::reader {
namespace {

// Two processes that claim the same rank of the same attempt belong to two launches, unless they ran side by side: then
// the second is a helper of the first that inherited its environment.
bool side_by_side(const Trace& earlier, const Trace& later) {
  return earlier.process().boot_id == later.process().boot_id &&
         later.process().start_monotonic_ns <= earlier.last_ns();
}

std::string subdirectory_hint(const std::string& path, const std::vector<std::string>& runs) {
  if (runs.empty()) return path + " holds no trace.";
  return path + " holds no trace itself, but " + std::to_string(runs.size()) + " run director" +
         (runs.size() == 1 ? "y" : "ies") + ", " + runs.back() + " for one.";
}

// Gives every trace the number of its launch: the nth process of a rank and attempt, in the order of their starts,
// belongs to launch n. Processes without a rank go with the launch that started last before them.
int number_launches(std::vector<Trace>& traces, const std::function<void(Trace&, int)>& set) {
  std::sort(traces.begin(), traces.end(), [](const Trace& a, const Trace& b) {
    return a.process().start_realtime_ns < b.process().start_realtime_ns;
  });
  std::map<std::pair<int, int>, std::pair<const Trace*, int>> latest;
  std::map<int, std::uint64_t> launch_start;
  for (Trace& trace : traces) {
    if (trace.rank() < 0) continue;
    const auto key = std::pair(trace.rank(), trace.attempt());
    int launch = 0;
    if (const auto it = latest.find(key); it != latest.end())
      launch = it->second.second + (side_by_side(*it->second.first, trace) ? 0 : 1);
    latest.insert_or_assign(key, std::pair(&trace, launch));
    launch_start.try_emplace(launch, trace.process().start_realtime_ns);
    set(trace, launch);
  }
  for (Trace& trace : traces) {
    if (trace.rank() >= 0) continue;
    int launch = 0;
    for (const auto& [number, start] : launch_start)
      if (start <= trace.process().start_realtime_ns) launch = number;
    set(trace, launch);
  }
  return launch_start.empty() ? 1 : launch_start.rbegin()->first + 1;
}

}  // namespace

Result<Run> Run::open(const std::string& path, const OpenOptions& options) {
  Result<std::vector<TraceFiles>> files = find_traces(path, options.hidden);
  if (!files.ok()) return files.status();
  if (files->empty()) return Status(Code::kEmpty, subdirectory_hint(path, runs_below(path)));

  Run run;
  run.path_ = path;
  run.threads_ = options.threads;
  std::vector<Result<Trace>> opened;
  for (std::size_t i = 0; i < files->size(); ++i) opened.emplace_back(Status());
  parallel_for(opened.size(), run.threads_,
               [&](std::size_t i) { opened[i] = Trace::open((*files)[i].trace, (*files)[i].ring); });
  std::map<std::tuple<std::string, std::uint32_t, std::uint64_t>, std::string> kept;  // by process: the path
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const std::string& file = (*files)[i].trace.empty() ? (*files)[i].ring : (*files)[i].trace;
    if (!opened[i].ok()) {
      run.skipped_.push_back({file, opened[i].status().message()});
      continue;
    }
    const ProcessInfo& process = opened[i]->process();
    const auto [first, is_new] =
        kept.try_emplace(std::tuple(process.boot_id, process.pid, process.start_monotonic_ns), file);
    if (is_new)
      run.traces_.push_back(std::move(*opened[i]));
    else
      run.skipped_.push_back({file, file + " is of the same process as " + first->second + ", a copy; left out."});
  }
  if (run.traces_.empty()) {
    if (opened.size() == 1) return opened.front().status();
    return Status(opened.front().status().code(), "None of the " + std::to_string(opened.size()) + " traces in " +
                                                      path + " can be read; the first: " + run.skipped_.front().why);
  }
  run.launches_ = number_launches(run.traces_, [](Trace& trace, int launch) { trace.impl_->launch = launch; });
  std::stable_sort(run.traces_.begin(), run.traces_.end(), [](const Trace& a, const Trace& b) {
    return std::tuple(a.launch(), a.attempt(), a.rank()) < std::tuple(b.launch(), b.attempt(), b.rank());
  });
  return run;
}

int Run::last_attempt() const {
  return traces_.empty() ? 0 : std::max_element(traces_.begin(), traces_.end(), [](const Trace& a, const Trace& b) {
                                 return std::pair(a.launch(), a.attempt()) < std::pair(b.launch(), b.attempt());
                               })->attempt();
}

const Trace* Run::find(int rank, int attempt) const {
  if (attempt < 0) attempt = last_attempt();
  for (const Trace& trace : traces_)
    if (trace.launch() == launches_ - 1 && trace.attempt() == attempt && trace.rank() == rank) return &trace;
  return nullptr;
}

int Run::world_size() const {
  int size = 0;
  for (const Trace& trace : traces_) {
    if (trace.launch() != launches_ - 1 || trace.attempt() != last_attempt()) continue;
    const Group* world = trace.impl_->definitions.world_group();
    size = std::max({size, trace.process().world_size, world != nullptr ? world->size : 0});
  }
  return size;
}

std::vector<int> Run::missing_ranks() const {
  std::set<int> present;
  for (const Trace& trace : traces_)
    if (trace.launch() == launches_ - 1 && trace.attempt() == last_attempt()) present.insert(trace.rank());
  std::vector<int> missing;
  const int size = world_size();
  for (int rank = 0; rank < size; ++rank)
    if (!present.contains(rank)) missing.push_back(rank);
  return missing;
}

Stats Run::stats() const {
  for_each_trace([](std::size_t, const Trace& trace) { trace.stats(); });
  Stats all;
  for (const Trace& trace : traces_) all.merge(trace.stats());
  for (const Skipped& skipped : skipped_) all.add("traces_unreadable", Severity::kDataLoss, 1, skipped.why);
  const std::vector<int> missing = missing_ranks();
  if (!missing.empty())
    all.add(
        "ranks_missing", Severity::kDataLoss, missing.size(),
        "There is no trace of rank " + std::to_string(missing.front()) + (missing.size() > 1 ? " and others." : "."));
  if (launches_ > 1)
    all.add("launches", Severity::kNotice, static_cast<std::uint64_t>(launches_),
            path_ + " holds the traces of several launches.");
  return all;
}

void Run::for_each_trace(const std::function<void(std::size_t, const Trace&)>& work) const {
  parallel_for(traces_.size(), threads_, [&](std::size_t i) { work(i, traces_[i]); });
}

}  // namespace plumbline::reader
