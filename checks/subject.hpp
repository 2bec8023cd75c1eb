// What checks look at: a run, with the views that several of them need, each made once and only when asked for.
//
// Not thread-safe: the views are made at their first use.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "checks/ending.hpp"
#include "reader/capture_sets.hpp"
#include "reader/run.hpp"
#include "reader/run_clock.hpp"
#include "reader/summary.hpp"

namespace plumbline::checks {

// Made from another program's file, which knows less than the recorder does.
bool is_imported(const reader::Trace& trace);

class Subject {
 public:
  // `progress` is told how far the reading of all traces is, the first time that it is done.
  explicit Subject(const reader::Run& run, reader::Progress progress = {})
      : run_(run), progress_(std::move(progress)) {}

  const reader::Run& run() const { return run_; }
  // One for each of run().traces().
  const std::vector<reader::TraceSummary>& summaries() const;
  const reader::RunClock& clock() const;
  // Tensors that probes captured, of each start of all ranks that this run holds.
  const reader::CaptureSets& capture_sets() const;
  // Those that are looked at: of the main set, unless look_at() chose another. Empty where there are none.
  reader::RunCaptures& captures() const;
  void look_at(std::size_t capture_set) const;
  // How the process of a trace ended, as it stood when it was first asked for.
  const Ending& ending(std::size_t trace) const;
  // Seconds since the start of the run.
  double seconds(std::size_t trace, std::uint64_t time_ns) const {
    return reader::RunClock::seconds(clock().since_start(trace, time_ns));
  }

 private:
  reader::CaptureSets& opened_captures() const;

  const reader::Run& run_;
  reader::Progress progress_;
  mutable std::optional<std::vector<reader::TraceSummary>> summaries_;
  mutable std::optional<reader::RunClock> clock_;
  mutable std::optional<reader::CaptureSets> captures_;
  mutable std::size_t capture_set_ = 0;
  mutable reader::RunCaptures no_captures_;
  mutable std::vector<std::optional<Ending>> endings_;
};

}  // namespace plumbline::checks
