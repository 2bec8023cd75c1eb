// The captured losses of a rank's step as the micro-batches that they belong to: what lies between two calls of
// backward() is one, though its loss may be computed chunk by chunk.
#pragma once

#include <cstddef>
#include <vector>

#include "checks/cross_entropy.hpp"

namespace plumbline::checks {

struct MicroBatch {
  std::vector<const LossCall*> chunks;  // in the order of their computation

  double sum() const;
  double supervised() const;
  double rows() const;
  double bound() const;  // the largest
  double mean() const { return supervised() > 0 ? sum() / supervised() : 0; }
  double mean_of_means() const;  // of the chunks
};

// `calls` and `backward` of one rank and step, by time. Where losses and calls of backward() do not alternate, each
// loss is a micro-batch.
std::vector<MicroBatch> micro_batches(const std::vector<const LossCall*>& calls,
                                      const std::vector<const Capture*>& backward);

}  // namespace plumbline::checks
