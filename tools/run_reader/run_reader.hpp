// The whole program but for the process around it, so that tests can call it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace plumbline::tools {

// `arguments` without the program's name; `terminal`: colours may be used. Returns the exit status.
int run_reader(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err, bool terminal);

}  // namespace plumbline::tools
