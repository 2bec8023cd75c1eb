// One captured call of a cross-entropy, computed anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

// What the gradients take of a loss, see loss_weights.hpp.
struct LossWeight {
  enum class Kind : std::uint8_t {
    kAlike,      // every token that counts has the same
    kByStretch,  // as in a mean of the means of rows or documents
    kByToken,
  };
  Kind kind = Kind::kAlike;
  double sum = 0;    // over the tokens: weight times cross-entropy
  double least = 0;  // of a token
  double most = 0;
  std::size_t stretches = 0;  // kByStretch: means of which a mean is taken
  double error = 0;           // relative, of the rounding of a weight
};

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
  bool graph = true;    // and its result has one: not so where it is recomputed in backward()
  double smoothing = 0;
  std::vector<double> label_values;
  std::vector<double> row_losses;  // 0 where there is no label; empty: of a fused head
  std::optional<LossWeight> weight;

  double mean() const { return supervised > 0 ? sum / static_cast<double>(supervised) : 0; }
};

// Nothing when it was not captured whole, or is no classification over the last dimension; `why` then says so.
std::optional<LossCall> recompute_loss(CaptureLoader& loader, const Capture& loss, const Capture* logits,
                                       const Capture* labels, std::string& why);

}  // namespace plumbline::checks
