#include "checks/subject.hpp"

namespace plumbline::checks {

bool is_imported(const reader::Trace& trace) { return !trace.definitions().fact("source.format").empty(); }

const std::vector<reader::TraceSummary>& Subject::summaries() const {
  if (!summaries_) summaries_ = reader::summarize(run_, progress_);
  return *summaries_;
}

const reader::RunClock& Subject::clock() const {
  if (!clock_) {
    summaries();
    // Needed for nothing else afterwards.
    clock_.emplace(run_, [&](std::size_t trace) { return std::move((*summaries_)[trace].stays); });
  }
  return *clock_;
}

reader::CaptureSets& Subject::opened_captures() const {
  if (!captures_) {
    captures_ = reader::CaptureSets::open(run_);
    capture_set_ = captures_->main();
  }
  return *captures_;
}

const reader::CaptureSets& Subject::capture_sets() const { return opened_captures(); }

reader::RunCaptures& Subject::captures() const {
  reader::CaptureSets& sets = opened_captures();
  return capture_set_ < sets.all.size() ? sets.all[capture_set_].captures : no_captures_;
}

void Subject::look_at(std::size_t capture_set) const {
  opened_captures();
  capture_set_ = capture_set;
}

const Ending& Subject::ending(std::size_t trace) const {
  if (endings_.empty()) endings_.resize(run_.traces().size());
  if (!endings_[trace]) endings_[trace] = ending_of(run_.traces()[trace]);
  return *endings_[trace];
}

}  // namespace plumbline::checks
