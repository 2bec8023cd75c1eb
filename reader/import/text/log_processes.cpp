#include "reader/import/text/log_processes.hpp"

#include <algorithm>

namespace plumbline::reader::imports {

ImportedProcess& LogProcesses::of_rank(int rank) {
  if (rank < 0) rank = file_rank_;
  const auto [it, is_new] = by_rank_.try_emplace(rank, processes_.size());
  if (is_new) processes_.emplace_back().rank = rank;
  return processes_[it->second];
}

ImportedProcess& LogProcesses::of_pid(std::uint32_t pid) {
  // A text of one rank may be about that rank's process alone: what it says of any is said of this one.
  if (file_rank_ >= 0) {
    ImportedProcess& process = of_rank(file_rank_);
    if (process.pid == 0) process.pid = pid;
    if (process.pid == pid) return process;
  }
  const auto [it, is_new] = by_pid_.try_emplace(pid, processes_.size());
  if (is_new) processes_.emplace_back().pid = pid;
  return processes_[it->second];
}

ImportedProcess& LogProcesses::of(int rank, std::uint32_t pid) {
  ImportedProcess& process = of_rank(rank);
  if (process.pid == 0) process.pid = pid;
  return process;
}

namespace {

bool holds_events(const ImportedProcess& process) {
  return !process.groups.empty() || !process.calls.empty() || !process.allocations.empty() || !process.stacks.empty() ||
         process.exit.has_value();
}

}  // namespace

std::vector<ImportedProcess> LogProcesses::finish() {
  std::vector<ImportedProcess> result;
  int largest = -1;
  for (const ImportedProcess& process : processes_) largest = std::max(largest, process.rank);
  for (ImportedProcess& process : processes_) {
    if (largest >= 0) process.world_size = std::max(process.world_size, largest + 1);
    const auto same = std::find_if(result.begin(), result.end(), [&](const ImportedProcess& other) {
      return process.pid != 0 && other.pid == process.pid && (other.rank < 0 || process.rank < 0);
    });
    if (same != result.end())
      same->merge(std::move(process));
    else
      result.push_back(std::move(process));
  }
  // What a text says of the job as a whole goes with its first process, if it has any.
  const auto nobody = std::find_if(result.begin(), result.end(), [](const ImportedProcess& one) {
    return one.rank < 0 && one.pid == 0 && !holds_events(one);
  });
  if (nobody != result.end() && result.size() > 1) {
    auto facts = std::move(nobody->facts);
    result.erase(nobody);
    result.front().facts.insert(result.front().facts.end(), facts.begin(), facts.end());
  }
  processes_.clear();
  by_rank_.clear();
  by_pid_.clear();
  return result;
}

}  // namespace plumbline::reader::imports
