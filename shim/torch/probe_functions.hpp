// What the probes of glue/ can call of ours.
#pragma once

#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// Puts them into the glue's namespace.
bool add_probe_functions(PyObject* globals) noexcept;

}  // namespace plumbline::shim::adapter
