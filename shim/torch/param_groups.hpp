// What an optimizer is about to step, and with which settings.
#pragma once

#include "shim/torch/open_step.hpp"
#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// Writes one StepGroupRecord for each param group, and the optimizer's identity and key into `step`. Reads Python
// objects but computes nothing: no tensor operation, no device access. Needs the interpreter lock.
void record_param_groups(PyObject* optimizer, OpenStep& step) noexcept;

}  // namespace plumbline::shim::adapter
