// The losses of one step on the ranks that take parts of one batch, and what each usual denominator would make of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "checks/cross_entropy.hpp"
#include "checks/micro_batches.hpp"

namespace plumbline::checks {

// Token ids that a model was given at once.
struct ForwardPass {
  double rows = 0;
  double length = 0;
  double tokens() const { return rows * length; }
};

struct RankLosses {
  std::vector<const LossCall*> calls;  // by time
  std::vector<const Capture*> backward_calls;
  std::vector<double> backward;  // what they were called on; fewer where it was not captured, or with a factor
  bool hooked = false;           // one of these has a hook, which may give it any factor
  std::map<std::uint32_t, ForwardPass> passes;
  std::vector<MicroBatch> micro;

  bool weighed() const;  // all calls, see LossCall::weight
  bool values_known() const { return !backward.empty() && backward.size() == backward_calls.size(); }
  double value() const;       // of all that backward() was called on
  double weighted() const;    // of the cross-entropy alone, as the gradients have it
  double supervised() const;  // tokens
  double given() const;       // tokens that the model was given
  // What is computed in chunks or by micro-batches is one loss, unless there are more labels than tokens.
  bool several_losses() const;
  // How many losses each token has; 0: that cannot be told. Where it is not known how many tokens there are, as many
  // as each micro-batch has.
  std::size_t losses_a_token() const;
};

struct LossBatch {
  std::map<int, RankLosses> ranks;

  bool weighed = false;         // `used` is what the gradients have of the cross-entropy, not of anything besides
  double used = 0;              // mean over ranks, as data parallelism averages gradients
  std::optional<double> value;  // likewise, of what backward() was called on
  double right = 0;             // token mean over everything
  double mean_of_means = 0;     // of micro-batches
  double mean_of_chunks = 0;    // of the means of their chunks
  double mean_of_ranks = 0;     // of the ranks' token means
  double with_padding = 0;      // all tokens counted, supervised or not
  double bound = 0;             // relative to `right`
  double sum = 0;
  double tokens = 0;               // supervised
  double rows = 0;                 // tokens, supervised or not
  std::size_t micro = 0;           // micro-batches a rank
  std::size_t chunks = 1;          // the most that one has
  bool chunks_are_rows = false;    // each the only one of a row
  bool chunks_are_passes = false;  // each of another forward pass: batches that one backward() takes
  bool several = false;            // losses of the same tokens, or it is not known how many tokens there are
  bool tokens_known = true;        // how many the model was given
  bool is_loss = true;             // see LossCall

  double world() const { return static_cast<double>(ranks.size()); }
  bool close(double a, double b) const;
};

// Of ranks that can be judged together: as many micro-batches on each, and of each what went into its gradients.
std::optional<LossBatch> measured(std::map<int, RankLosses> ranks);

// Only the losses that are the n-th of each token.
LossBatch only_nth_losses(const LossBatch& batch, std::size_t n);

}  // namespace plumbline::checks
