// One captured call of a cross-entropy, computed anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct LossCall {
  int rank = -1;
  std::int64_t step = 0;
  std::uint32_t occurrence = 0;  // the micro-batch
  std::string name;
  const Capture* loss = nullptr;
  const Capture* logits = nullptr;
  const Capture* labels = nullptr;

  std::size_t rows = 0;        // tokens, supervised or not
  std::size_t supervised = 0;  // label is not ignore_index
  double sum = 0;              // of the cross-entropy over the supervised tokens
  double bound = 0;            // of a mean's error, in the precision that the job computes in
  double reported = 0;         // what the function gave
  double ignore_index = -100;
  std::string reduction = "mean";
  bool is_loss = true;  // what comes of it is the training's loss; of log-probabilities it may be another objective
  double excess = -1;   // of a fused head: the largest distance of its results over their bounds …
  double expected = 0;  // … and there, what `reported` should have been
  bool trains = true;   // a gradient can go through it; not so of an evaluation between steps
  std::vector<double> label_values;

  double mean() const { return supervised > 0 ? sum / static_cast<double>(supervised) : 0; }
};

// Nothing when it was not captured whole, or is no classification over the last dimension; `why` then says so.
std::optional<LossCall> recompute_loss(CaptureLoader& loader, const Capture& loss, const Capture* logits,
                                       const Capture* labels, std::string& why);

}  // namespace plumbline::checks
