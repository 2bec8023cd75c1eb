// Tells the recorder whether the CUDA hooks stand before a runtime that is loaded, or why they do not.
#pragma once

namespace plumbline::shim::cuda {

void report_hooks() noexcept;

}  // namespace plumbline::shim::cuda
