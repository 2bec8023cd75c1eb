// Which module of the model the calling thread is inside of. The glue follows the modules' calls while a step is looked
// at.
#pragma once

#include <string>

namespace plumbline::shim::adapter {

void enter_module(std::string path);
void leave_module() noexcept;

// Of the calling thread: what an exception may have left open.
void forget_modules() noexcept;

// The path of the innermost one, "layers.0.attention"; empty outside of all, and in the model's own forward.
const std::string& current_module() noexcept;

}  // namespace plumbline::shim::adapter
