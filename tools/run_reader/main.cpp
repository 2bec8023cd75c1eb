// run-reader: post-mortem of a recorded training run.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/run_reader.hpp"

int main(int argc, char** argv) {
  // `run-reader events RUN | head`: a closed pipe shows as a failed write, not as a death by signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  // Memory that one trace needed goes to the next one, and not back to the system in between.
  constexpr int kLarge = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
  // A run of thousands of ranks has as many files, and more than the usual limit of open ones.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return plumbline::tools::run_reader(arguments, std::cout, std::cerr, isatty(STDOUT_FILENO) == 1);
  } catch (const std::bad_alloc&) {
    std::cerr << "run-reader: there is not enough memory for this run; read fewer traces at once, or on a larger "
                 "machine.\n";
  } catch (const std::exception& error) {
    std::cerr << "run-reader: this cannot be read: " << error.what() << ".\n";
  }
  return plumbline::tools::kExitUsage;
}
