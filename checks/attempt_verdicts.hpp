// One verdict over several starts of a job, each of which was looked at by itself.
#pragma once

#include <string>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct AttemptVerdict {
  std::string label;  // "attempt 1"; empty: there is one only
  Verdict verdict;
};

// Labels stand before what is said of each. Passed when all passed of which anything could be said.
Verdict over_attempts(std::vector<AttemptVerdict> verdicts);

// What tells a set of captures from the others of its run.
std::string capture_set_label(const Subject& subject, std::size_t set);

}  // namespace plumbline::checks
