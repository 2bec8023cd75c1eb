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

}  // namespace plumbline::checks
