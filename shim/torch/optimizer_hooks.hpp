// The hooks that torch.optim calls around every optimizer's step(), put there without a line of Python.
#pragma once

namespace plumbline::shim::adapter {

// Puts the hooks into torch.optim.optimizer, once it is imported; takes the interpreter lock for it. Cheap when done.
// Called when a step's range opens: the hooks are collected after that, so this very step has them.
void install_optimizer_hooks() noexcept;

}  // namespace plumbline::shim::adapter
