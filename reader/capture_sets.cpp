#include "reader/capture_sets.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

namespace plumbline::reader {
namespace {

std::string foreign_text(const Run& run, const CaptureFile& file) {
  const ProcessInfo& process = file.process();
  const std::string whose = process.rank >= 0 ? "rank " + std::to_string(process.rank) + ", process " : "process ";
  return file.path() + " is of " + whose + std::to_string(process.pid) + " on " + process.host + ", of which " +
         run.path() + " holds no trace; put it beside the traces of its own run.";
}

// A process has one file of captures.
std::tuple<std::string, std::uint32_t, std::uint64_t> whose(const ProcessInfo& process) {
  return {process.boot_id, process.pid, process.start_monotonic_ns};
}

bool is_of(const Trace& trace, const ProcessInfo& captured) {
  const ProcessInfo& process = trace.process();
  if (process.pid != captured.pid || process.boot_id != captured.boot_id) return false;
  // Numbers are given out again: its first capture lies within the life of the process.
  if (captured.start_monotonic_ns < process.start_monotonic_ns) return false;
  const ExitInfo* exit = trace.exit();
  return exit == nullptr || exit->time_ns < process.start_monotonic_ns || captured.start_monotonic_ns <= exit->time_ns;
}

}  // namespace

std::optional<std::size_t> trace_of(const Run& run, const ProcessInfo& captured) {
  std::optional<std::size_t> found;
  for (std::size_t index = 0; index < run.traces().size(); ++index) {
    const Trace& trace = run.traces()[index];
    if (!is_of(trace, captured)) continue;
    // A process that replaced its program has several.
    if (!found || run.traces()[*found].process().start_monotonic_ns < trace.process().start_monotonic_ns) found = index;
  }
  return found;
}

CaptureSets CaptureSets::open(const Run& run) {
  CaptureSets sets;
  Result<RunCaptures> opened = RunCaptures::open(run.path());
  if (!opened.ok()) return sets;
  std::vector<CaptureFile>& files = opened->files();
  for (const std::string& complaint : opened->complaints()) {
    const bool of_opened = std::any_of(
        files.begin(), files.end(), [&](const CaptureFile& file) { return complaint.starts_with(file.path() + ": "); });
    if (!of_opened) sets.damaged.push_back(complaint);
  }
  // Copies of one file follow each other, the fullest first.
  std::stable_sort(files.begin(), files.end(), [](const CaptureFile& a, const CaptureFile& b) {
    const auto order = [](const CaptureFile& file) {
      return std::tuple(file.process().start_realtime_ns, whose(file.process()));
    };
    const auto first = order(a), second = order(b);
    return first != second ? first < second : a.captures().size() > b.captures().size();
  });
  files.erase(
      std::unique(files.begin(), files.end(),
                  [](const CaptureFile& a, const CaptureFile& b) { return whose(a.process()) == whose(b.process()); }),
      files.end());
  std::map<std::tuple<int, int, int>, std::vector<CaptureFile>> parts;
  std::map<std::tuple<int, int, int>, int> processes;  // by launch, attempt and rank
  std::map<std::size_t, int> turns;                    // by trace
  for (CaptureFile& file : files) {
    const std::optional<std::size_t> index = trace_of(run, file.process());
    if (!index) {
      sets.foreign.push_back(foreign_text(run, file));
      continue;
    }
    const Trace& trace = run.traces()[*index];
    file.set_rank(trace.rank());
    if (file.captures().empty()) {
      sets.unused.push_back(std::move(file));
      continue;
    }
    const auto [turn, is_new] = turns.try_emplace(*index);
    if (is_new) turn->second = processes[{trace.launch(), trace.attempt(), trace.rank()}]++;
    const int kind = trace.rank() >= 0 ? 0 : 1;
    parts[{trace.launch(), trace.attempt(), 2 * turn->second + kind}].push_back(std::move(file));
  }
  for (auto& [key, part] : parts) {
    const auto& [launch, attempt, turn] = key;
    sets.all.push_back({launch, attempt, turn, RunCaptures(std::move(part))});
  }
  return sets;
}

std::size_t CaptureSets::main() const {
  std::size_t chosen = all.size();
  for (std::size_t index = 0; index < all.size(); ++index) {
    const bool later = chosen == all.size() || std::pair(all[chosen].launch, all[chosen].attempt) <
                                                   std::pair(all[index].launch, all[index].attempt);
    if (later || all[chosen].captures.files().size() <= all[index].captures.files().size()) chosen = index;
  }
  return chosen;
}

}  // namespace plumbline::reader
