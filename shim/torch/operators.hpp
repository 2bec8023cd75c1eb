// Every operator of the job while a step is looked at: an at::RecordFunction observer of FUNCTION scope. Each leaves a
// range with its inputs' types and shapes and the module that called it; some are places of probes.
#pragma once

namespace plumbline::shim::adapter {

// On or off. The observer is added at the first call.
void observe_operators(bool on) noexcept;

}  // namespace plumbline::shim::adapter
