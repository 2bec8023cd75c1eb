// Functions of ours as Python objects.
#pragma once

#include "shim/torch/python_api.hpp"

namespace plumbline::shim::adapter {

// An object of a type of our own that calls `function`. Unlike a builtin function, of which torch.compile warns that it
// cannot trace it, such an object makes it step aside silently. Empty, with an error set, when it cannot be made.
Ref make_callable(const char* name, PyCallFunction function) noexcept;

}  // namespace plumbline::shim::adapter
