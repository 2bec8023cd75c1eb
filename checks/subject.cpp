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

reader::RunCaptures& Subject::captures() const {
  if (!captures_) {
    reader::Result<reader::RunCaptures> opened = reader::RunCaptures::open(run_.path());
    captures_ = opened.ok() ? std::move(*opened) : reader::RunCaptures();
  }
  return *captures_;
}

const Ending& Subject::ending(std::size_t trace) const {
  if (endings_.empty()) endings_.resize(run_.traces().size());
  if (!endings_[trace]) endings_[trace] = ending_of(run_.traces()[trace]);
  return *endings_[trace];
}

}  // namespace plumbline::checks
