#include "checks/subject.hpp"

namespace plumbline::checks {

const std::vector<reader::TraceSummary>& Subject::summaries() const {
  if (!summaries_) summaries_ = reader::summarize(run_);
  return *summaries_;
}

const reader::RunClock& Subject::clock() const {
  if (!clock_) clock_.emplace(run_);
  return *clock_;
}

const Ending& Subject::ending(std::size_t trace) const {
  if (endings_.empty()) endings_.resize(run_.traces().size());
  if (!endings_[trace]) endings_[trace] = ending_of(run_.traces()[trace]);
  return *endings_[trace];
}

}  // namespace plumbline::checks
