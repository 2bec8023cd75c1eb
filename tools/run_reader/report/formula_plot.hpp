// The size of a request that failed against the row length: the formula that explains it, as a curve, with the requests
// of the steps whose shape is known, and the one that failed.
#pragma once

#include <string>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// One plot a rank, of the first few that differ; empty without a request that failed, or one that nothing explains.
std::string formula_plots(const Context& context);

}  // namespace plumbline::tools
