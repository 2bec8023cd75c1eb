// Captures what an optimizer's step starts from and what it leaves, at the steps that the settings choose.
#pragma once

#include "shim/torch/open_step.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// `arguments` are the hook's: the optimizer, the arguments of step() as a tuple, its keywords as a dict.
void capture_before_step(PyObject* arguments, OpenStep& step) noexcept;
void capture_after_step(PyObject* arguments, OpenStep& step) noexcept;

}  // namespace plumbline::shim::adapter
