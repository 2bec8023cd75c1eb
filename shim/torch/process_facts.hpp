// What the job's Python says about itself: versions, and the exception that ends it.
#pragma once

namespace plumbline::shim::adapter {

// Versions of Python, torch, CUDA and NCCL, as facts. Needs the interpreter lock.
void record_torch_facts() noexcept;

// Puts a function in front of sys.excepthook that notes the class and first line of an uncaught exception, and then
// calls the one that was there. Needs the interpreter lock.
bool install_excepthook() noexcept;

}  // namespace plumbline::shim::adapter
