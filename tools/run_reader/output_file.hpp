// A file that a command writes: -o FILE, or - for standard output.
#pragma once

#include <functional>
#include <ostream>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// Gives `write` a stream to options.output. A file is written beside its name first, so that a failure half way
// replaces nothing, and never over one of the run's own files. False, with a sentence on context.err, when it could not
// be written.
bool write_output(const Context& context, const std::function<void(std::ostream&)>& write);

}  // namespace plumbline::tools
