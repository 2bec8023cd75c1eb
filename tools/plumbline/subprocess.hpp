// Runs programs and collects what they print.
#pragma once

#include <string>
#include <vector>

namespace plumbline::tools {

struct Finished {
  int status = -1;     // exit status; 128 + signal when it was killed; 127 when it could not be started
  std::string output;  // standard output
  std::string errors;  // standard error
};

// Runs one program (looked up in PATH) to its end. LD_PRELOAD is taken out of its environment.
Finished run_program(const std::vector<std::string>& arguments);

// Runs several, at most `jobs` at a time, and stops starting more after a failure. Results in order; a program that was
// not started has status -1.
std::vector<Finished> run_programs(const std::vector<std::vector<std::string>>& commands, unsigned jobs);

// Where a program name leads in PATH; empty when nowhere. A name with a slash leads to itself, if it can be executed.
std::string find_program(const std::string& name);

}  // namespace plumbline::tools
