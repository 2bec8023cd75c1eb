// Which wrong denominator, or factor, makes of a batch's losses exactly what the gradients were of.
#pragma once

#include <optional>
#include <string>

#include "checks/loss_batch.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct LossExplanation {
  std::string kind;
  std::string words;  // a clause whose subject is the loss
  Status status = Status::kFail;
  std::string reading;  // how else it may be read; empty: not
};

// `used` may be another number than the batch's own, as where gradients were divided by something later.
std::optional<LossExplanation> explain_denominator(const LossBatch& batch, double used);

}  // namespace plumbline::checks
