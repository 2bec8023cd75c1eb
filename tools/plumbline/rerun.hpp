// `plumbline rerun`: launches a recorded job again, to look deeper.
#pragma once

#include <string>
#include <vector>

namespace plumbline::tools {

struct RerunOptions {
  std::string run;
  std::string level = "diagnose";
  std::string directory;             // where the new run directory is made; empty: beside the old one
  std::string steps;                 // PLUMBLINE_CAPTURE_STEPS; empty: the default
  std::string probes;                // PLUMBLINE_TEMPLATE; empty: as in the run
  std::vector<std::string> changes;  // NAME=VALUE sets a variable, anything else is appended to the command line
  bool show = false;                 // print the command instead of running it
};

// Becomes the job. Returns only when there is nothing to become: 0 after showing the command, 2 with one sentence on
// stderr when the launch cannot be repeated here.
int rerun(const RerunOptions& options);

}  // namespace plumbline::tools
