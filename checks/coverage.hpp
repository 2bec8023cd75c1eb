// Check `coverage`: what a run did not record, and why: hooks that were off, an adapter that was missing, settings that
// were refused, ranks without a trace, data that is lost, what an imported file never had. Silence about these would be
// the worst answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct CoverageGap {
  std::string what;                 // one sentence, the same for all its ranks
  std::vector<std::int32_t> ranks;  // empty: the whole run
  bool grave = false;               // verdicts of other checks may be wrong, or missing, because of it
};

std::vector<CoverageGap> coverage_gaps(const Subject& subject);

// "rank 3: no torch adapter …": without the ranks where it concerns all of them.
std::string gap_text(const Subject& subject, const CoverageGap& gap);

// Passes with gaps that cost details only: those are in Verdict::unknown.
Verdict check_coverage(const Subject& subject);

}  // namespace plumbline::checks
