// Counts the outermost steps of each optimizer object. Needs the interpreter lock.
#pragma once

#include <cstdint>

#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

struct StepNumber {
  std::int64_t step = -1;     // from 0; -1: the optimizer cannot be followed
  std::int64_t ordinal = -1;  // of the optimizer in the process, by its first step
};

// Counts one more step of an optimizer.
StepNumber count_step(PyObject* optimizer) noexcept;

// Of the step that the first optimizer takes next.
std::int64_t next_step_number() noexcept;

}  // namespace plumbline::shim::adapter
