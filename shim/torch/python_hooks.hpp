// Everything that is hooked inside the job's Python.
#pragma once

namespace plumbline::shim::adapter {

// Installs the optimizer hooks and the exception hook, and records versions, once torch is imported. Cheap when done,
// so it is called wherever it may succeed: at load, when a range opens (a step collects its hooks after that, so even a
// first step has them), and at collectives. The earlier the better: a step() that torch.compile traces before the hooks
// are there stays without them.
//
// Takes the interpreter lock, but only in a thread that Python knows: a worker thread of torch that waited for the lock
// could be joined by the thread that holds it.
void install_python_hooks() noexcept;

}  // namespace plumbline::shim::adapter
