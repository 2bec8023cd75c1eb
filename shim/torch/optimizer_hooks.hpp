// The hooks that torch.optim calls around every optimizer's step(), put there without a line of Python.
#pragma once

namespace plumbline::shim::adapter {

// Puts the hooks into torch.optim.optimizer, once torch is imported; takes the interpreter lock for it. Cheap when
// done. Called early, because a step() that is compiled before they are there stays without them, and whenever a range
// opens: a step collects its hooks after its range has opened, so even a first step has them.
void install_optimizer_hooks() noexcept;

}  // namespace plumbline::shim::adapter
