// A run: the traces of one launch, one per process, found by what the files say of themselves and never by their names.
//
//   Result<Run> run = Run::open("plumbline-run-20260102-030405-77");
//   if (!run.ok()) return fail(run.status().message());
//   for (const Trace& trace : run->traces()) print(trace.rank(), trace.host(), trace.exit());
//
// Views over a run or a trace, each bounded in memory, live in headers of their own:
//   reader/merge.hpp        rows of a frame in time order over all threads and kinds
//   reader/collectives.hpp  collectives joined with their marks and their outcome
//   reader/steps.hpp        optimizer steps with groups and nesting; logical steps
//   reader/ranges.hpp       ranges, paired
//   reader/allocations.hpp  live bytes, peaks, counts by source
//   reader/clock.hpp        offsets of the hosts' clocks
//   reader/match.hpp        one collective over all ranks of its group
//   reader/summary.hpp      everything a summary needs in one pass
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reader/stats.hpp"
#include "reader/status.hpp"
#include "reader/trace.hpp"

namespace plumbline::reader {

// Told from several threads how many traces of all are done.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

struct OpenOptions {
  bool hidden = false;   // also take the hidden files of processes that never showed that they train
  Progress progress{};   // of the opening
  unsigned threads = 0;  // to open and read traces with; 0: as many as there are cores
};

class Run {
 public:
  // `path` is a run directory or one trace file. Fails only when nothing of it is usable; files that had to be left
  // out are in skipped().
  static Result<Run> open(const std::string& path, const OpenOptions& options = {});

  const std::string& path() const { return path_; }
  const std::vector<Trace>& traces() const { return traces_; }  // by launch, attempt, rank, start
  int launches() const { return launches_; }                    // more than one: several runs share the directory
  int last_attempt() const;                                     // highest attempt of the last launch
  // The trace of a rank in the last launch's attempt (-1: the last one); null when there is none.
  const Trace* find(int rank, int attempt = -1) const;
  int world_size() const;                  // as groups or the environment say; 0 when not known
  std::vector<int> missing_ranks() const;  // of the last attempt: ranks that should be there and have no trace

  struct Skipped {
    std::string path;
    std::string why;  // one sentence that names the file
  };
  const std::vector<Skipped>& skipped() const { return skipped_; }

  Stats stats() const;  // of all traces, and what the directory itself lacks

  // Calls `work(index)` for every trace, on several threads. `work` must not throw.
  void for_each_trace(const std::function<void(std::size_t index, const Trace&)>& work) const;

 private:
  void number_launches();

  std::string path_;
  std::vector<Trace> traces_;
  std::vector<Skipped> skipped_;
  int launches_ = 0;
  unsigned threads_ = 1;
};

}  // namespace plumbline::reader
