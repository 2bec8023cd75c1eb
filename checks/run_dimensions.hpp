// What sizes of requests are explained by: the model's dimensions, and the shape of the batch by step and rank.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/size_formula.hpp"

namespace plumbline::checks {

struct StepShape {
  std::int64_t step = -1;
  std::int32_t rank = -1;  // -1: all ranks
  std::vector<Dimension> values;
};

struct RunDimensions {
  std::vector<Dimension> fixed;  // "heads", "vocabulary"; a batch or length here is that of the request that failed
  std::vector<StepShape> shapes;

  // Empty: not known.
  std::vector<Dimension> shape_at(std::int64_t step, std::int32_t rank) const;
  // `fixed` without what a batch's shape says, and that part alone.
  std::vector<Dimension> of_model() const;
  std::vector<Dimension> of_batch() const;
};

}  // namespace plumbline::checks
