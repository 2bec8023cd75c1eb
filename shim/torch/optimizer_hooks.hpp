// The hooks that torch.optim calls around every optimizer's step(), put there without a line of Python.
#pragma once

namespace plumbline::shim::adapter {

// Puts the hooks into torch.optim.optimizer. False when it has no place for them. Needs the interpreter lock, and a
// torch that is imported.
bool add_optimizer_hooks() noexcept;

}  // namespace plumbline::shim::adapter
