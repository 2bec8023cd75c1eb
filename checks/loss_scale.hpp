// What the gradients of a step are of, over all micro-batches and data-parallel ranks, against the mean over all
// supervised tokens of that step: the cross-entropy's own weight in them where that was captured, else what backward()
// was called on.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/cross_entropy.hpp"
#include "checks/observations.hpp"

namespace plumbline::checks {

struct ScaleCount {
  std::size_t judged = 0;    // steps
  std::size_t left = 0;      // steps, by set of ranks, of which not all losses or backward() calls could be used
  std::size_t other = 0;     // of those judged: the loss is something else that is made of log-probabilities
  std::size_t by_token = 0;  // steps that are not judged: each token has a weight of its own
  // By rank and step: what backward() is for, in the mean over the ranks, over the token mean.
  std::map<std::pair<int, std::int64_t>, double> ratios;
};

ScaleCount examine_scale(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                         Observations& into);

// The ratios alone, from the captures. A step that could not be judged has none.
std::map<std::pair<int, std::int64_t>, double> loss_ratios(const Subject& subject, CaptureLoader& loader);

}  // namespace plumbline::checks
