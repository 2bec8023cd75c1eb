// run-reader: post-mortem of a recorded training run.
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "tools/run_reader/run_reader.hpp"

int main(int argc, char** argv) {
  // `run-reader events RUN | head`: a closed pipe shows as a failed write, not as a death by signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return plumbline::tools::run_reader(arguments, std::cout, std::cerr, isatty(STDOUT_FILENO) == 1);
}
