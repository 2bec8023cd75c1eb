// The gradients that one call of clipping was given on all ranks, put together to the whole model's: each block once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/clip_calls.hpp"

namespace plumbline::checks {

// What came of the whole gradient when each block was clipped by its own rank's factor.
struct Applied {
  double norm = 0;
  double cosine = 1;  // to the gradient before
};

struct ClipBlocks {
  struct Block {
    const Capture* grad = nullptr;
    int rank = -1;  // that holds it, the first of several
    double norm = 0;
  };
  std::vector<Block> blocks;
  std::map<int, double> local_norms;   // over all that a rank holds, where that is known
  std::optional<double> norm;          // nothing where some block was not captured whole, or on no rank
  bool sharded = false;                // some parameter is, by what the job says of its placement
  bool apart = false;                  // ranks hold different gradients which nothing says are of one model
  std::string shared_name;             // a parameter that several ranks hold; a sharded one if there is one
  std::vector<std::string> unreduced;  // parameters with equal values on ranks whose gradients differ

  Applied applied(const std::map<int, double>& factors, double norm_type) const;
  std::optional<double> norm_by(CaptureLoader& loader, double norm_type) const;
};

ClipBlocks clip_blocks(CaptureLoader& loader, const std::vector<const ClipCall*>& calls);

}  // namespace plumbline::checks
