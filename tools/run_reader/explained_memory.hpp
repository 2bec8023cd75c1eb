// The memory check of a look at everything, with the dimensions that --config and --dims give.
#pragma once

#include <vector>

#include "checks/verdict.hpp"
#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// Evaluates it anew, in the place of its verdict, where dimensions were given. False, after a sentence on context.err,
// when they cannot be used.
bool explain_memory(const Context& context, std::vector<checks::Verdict>& verdicts);

}  // namespace plumbline::tools
