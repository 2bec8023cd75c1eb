#include "reader/run.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <tuple>

#include "reader/launches.hpp"
#include "reader/parallel.hpp"
#include "reader/run_files.hpp"
#include "reader/trace_impl.hpp"

namespace plumbline::reader {
namespace {

std::string hidden_hint(const std::string& path) {
  const Result<std::vector<TraceFiles>> hidden = find_traces(path, true);
  if (!hidden.ok() || hidden->empty()) return path + " holds no trace.";
  return path + " holds no trace, only hidden files of processes that had not shown that they train (" +
         std::to_string(hidden->size()) + "); plumbline doctor names them.";
}

std::string subdirectory_hint(const std::string& path, const std::vector<std::string>& runs) {
  if (runs.empty()) return hidden_hint(path);
  return path + " holds no trace itself, but " + std::to_string(runs.size()) + " run director" +
         (runs.size() == 1 ? "y" : "ies") + ", " + runs.back() + " for one.";
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
  std::atomic<std::size_t> done{0};
  parallel_for(opened.size(), run.threads_, [&](std::size_t i) {
    opened[i] = Trace::open((*files)[i].trace, (*files)[i].ring);
    if (options.progress) options.progress(++done, opened.size());
  });
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
  run.number_launches();
  std::stable_sort(run.traces_.begin(), run.traces_.end(), [](const Trace& a, const Trace& b) {
    return std::tuple(a.launch(), a.attempt(), a.rank()) < std::tuple(b.launch(), b.attempt(), b.rank());
  });
  return run;
}

void Run::number_launches() {
  std::stable_sort(traces_.begin(), traces_.end(), [](const Trace& a, const Trace& b) {
    return a.process().start_realtime_ns < b.process().start_realtime_ns;
  });
  const Launches launches = tell_launches(traces_);
  for (std::size_t index = 0; index < traces_.size(); ++index) {
    TraceImpl& trace = *traces_[index].impl_;
    trace.launch = launches.launch_of[index];
    if (const std::size_t next = launches.continued_in[index]; next != index) trace.continued_in = traces_[next].path();
  }
  launches_ = launches.count;
}

int Run::last_attempt() const {
  return traces_.empty() ? 0 : std::max_element(traces_.begin(), traces_.end(), [](const Trace& a, const Trace& b) {
                                 return std::pair(a.launch(), a.attempt()) < std::pair(b.launch(), b.attempt());
                               })->attempt();
}

const Trace* Run::find(int rank, int attempt) const {
  if (attempt < 0) attempt = last_attempt();
  const Trace* found = nullptr;
  for (const Trace& trace : traces_) {
    if (trace.launch() != launches_ - 1 || trace.attempt() != attempt || trace.rank() != rank) continue;
    if (trace.continued_in().empty()) return &trace;
    found = &trace;
  }
  return found;
}

int Run::world_size() const {
  int size = 0;
  for (const Trace& trace : traces_) {
    if (trace.launch() != launches_ - 1 || trace.attempt() != last_attempt()) continue;
    size = std::max(size, trace.world_size());
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
