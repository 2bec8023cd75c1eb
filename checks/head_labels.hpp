// The labels of a fused head, row by row, and which of them count. A head may be given only those that count, or all of
// them with something harmless in place of those that do not: what the model itself was given then tells.
#pragma once

#include <vector>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct HeadRows {
  std::vector<double> labels;    // as the head was given them
  std::vector<bool> supervised;  // by row of the head
  std::vector<double> all;       // of the micro-batch, also of rows that the head was not given
};

// No labels when they cannot be read.
HeadRows head_rows(CaptureLoader& loader, const reader::RunCaptures& captures, const Capture& labels,
                   double ignore_index);

}  // namespace plumbline::checks
