// A file that a command writes: -o FILE, or - for standard output; --junit FILE.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

// Gives `write` a stream to options.output: standard output for -, else as write_file() does, and never over a file
// that the command reads.
bool write_output(const Context& context, const std::function<void(std::ostream&)>& write);

// A file is written beside its name first, so that a failure half way replaces nothing; a link is followed. What is no
// regular file, such as /dev/null or a named pipe, is written into and stays what it is. No recording and no other
// program's dump is replaced. False, with a sentence on `err`, when it could not be written.
bool write_file(const std::string& output, const std::function<void(std::ostream&)>& write, std::ostream& err);

}  // namespace plumbline::tools
