#include "checks/run_dimensions.hpp"

#include <algorithm>
#include <iterator>

namespace plumbline::checks {
namespace {

bool is_of_batch(const Dimension& dimension) {
  return dimension.name == "batch" || dimension.name == kLength || dimension.name == kTokens;
}

}  // namespace

std::vector<Dimension> RunDimensions::shape_at(std::int64_t step, std::int32_t rank) const {
  std::vector<Dimension> values;
  for (const StepShape& shape : shapes) {
    if (shape.step != step || (shape.rank != -1 && shape.rank != rank)) continue;
    values.insert(values.end(), shape.values.begin(), shape.values.end());
  }
  // A batch that is the same in every step completes a length that is given for each.
  if (values.empty()) return values;
  for (const Dimension& one : of_batch()) {
    if (!value_of(values, one.name)) values.push_back(one);
  }
  return values;
}

std::vector<Dimension> RunDimensions::of_model() const {
  std::vector<Dimension> model;
  std::remove_copy_if(fixed.begin(), fixed.end(), std::back_inserter(model), is_of_batch);
  return model;
}

std::vector<Dimension> RunDimensions::of_batch() const {
  std::vector<Dimension> batch;
  std::copy_if(fixed.begin(), fixed.end(), std::back_inserter(batch), is_of_batch);
  return batch;
}

}  // namespace plumbline::checks
