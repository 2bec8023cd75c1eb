// What is wrong with a command line, as one sentence that says what to give instead: CLI11 alone tells how many values
// it had expected.
#pragma once

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace plumbline::tools {

// `app`, a program with subcommands, has just refused a command line with `error`.
std::string complaint_of(const CLI::App& app, const CLI::Error& error);

}  // namespace plumbline::tools
