// Command line → Options.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tools/run_reader/options.hpp"

namespace plumbline::tools {

struct CommandLine {
  std::optional<Options> options;  // absent: the process ends with exit_code
  int exit_code = 0;
  std::string text;  // help or version (exit_code 0), or what was wrong
};

// Without the program's name.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace plumbline::tools
