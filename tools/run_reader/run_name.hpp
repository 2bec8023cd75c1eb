// What people call a run: its directory, or the files of other programs that were given in its place.
#pragma once

#include <string>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

std::string run_name(const Context& context);

}  // namespace plumbline::tools
