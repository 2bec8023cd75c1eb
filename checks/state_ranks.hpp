// One verdict over the states of several ranks.
#pragma once

#include <string>
#include <vector>

#include "checks/verdict.hpp"

namespace plumbline::checks {

struct RankVerdict {
  int rank = -1;  // -1: of a state that was put together from several
  Verdict verdict;
};

// Findings that several ranks share are told once, with these ranks. Passed only when all passed.
Verdict over_ranks(const std::string& check, std::vector<RankVerdict> verdicts);

}  // namespace plumbline::checks
