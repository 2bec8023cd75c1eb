// Check: is the loss the mean cross-entropy over the supervised tokens?
//
// Recomputed in float64 from captured logits and labels: each call of the loss function by itself, and what backward()
// was called on against the mean over all micro-batches and data-parallel ranks. Labels are held against the token ids
// that they come from. docs/checks.md says what it finds.
#pragma once

#include <cstdint>
#include <map>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct LossMargins {
  double largest_agreeing = 0;              // deviation of a loss over its bound
  std::map<std::int64_t, double> agreeing;  // likewise, by step
  std::uint64_t bytes = 0;                  // of logits
};

Verdict check_loss(const Subject& subject);
Verdict check_loss(const Subject& subject, LossMargins& margins);

}  // namespace plumbline::checks
