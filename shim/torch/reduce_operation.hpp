// The operation that a c10d call reduces with, and the factor of a sum of scaled parts.
#pragma once

#include <optional>

#include "recorder/event.hpp"
#include "shim/torch/c10d_arguments.hpp"

namespace plumbline::shim::adapter {

// Null where nothing is reduced.
const c10d::ReduceOp* reduce_operation(recorder::Op op, const Arguments& arguments);

// What this rank's part is multiplied by, in a sum of scaled parts. Nothing where it stands on a device, which is not
// waited for, or is no finite number.
std::optional<double> factor_of(const c10d::ReduceOp& reduce);

}  // namespace plumbline::shim::adapter
