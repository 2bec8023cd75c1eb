// What the gradients take of a captured loss: the weight that each of its tokens' cross-entropy has in what backward()
// computes, whatever the job does between loss and backward(). Known from what the loss's own backward operator was
// given, the captures `loss.grad`.
#pragma once

#include <vector>

#include "checks/cross_entropy.hpp"

namespace plumbline::checks {

// Sets `weight` of those that it is known of. Tokens of weight 0, as of a mask that the job multiplies losses by, are
// no longer supervised then.
void weigh_losses(CaptureLoader& loader, const reader::RunCaptures& captures, std::vector<LossCall>& calls);

// Those that the gradients of their step are of, in the order of `calls`. Evaluations between two steps are not: no
// gradient goes through them, or none did. Where no loss trains, a gradient comes by another way, such as a
// recomputation in backward().
std::vector<const LossCall*> training_losses(const std::vector<LossCall>& calls);

}  // namespace plumbline::checks
