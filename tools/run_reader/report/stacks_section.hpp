// The stacks of a run, those that several threads or ranks share told once.
#pragma once

#include <string>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// Empty when none was recorded.
std::string stacks_html(const Context& context);

}  // namespace plumbline::tools
