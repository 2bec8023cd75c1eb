// Plots over the whole run: live memory with the requests that failed, and step times.
#pragma once

#include <string>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// One plot a kind of memory; empty without allocations.
std::string memory_plots(const Context& context);
// Empty without at least two logical steps.
std::string step_plot(const Context& context);

}  // namespace plumbline::tools
