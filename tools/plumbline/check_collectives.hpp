// `plumbline check-collectives -- torchrun …`: runs every collective over a job's own launcher, network settings and
// groups, and compares what it returns with the closed form on every rank.
#pragma once

#include <string>
#include <vector>

namespace plumbline::tools {

struct CollectiveCheckOptions {
  std::string backend;    // empty: nccl where there is a GPU, else gloo
  std::string groups;     // "0,1;2,3"; empty: those of `run`, else a few divisions of the world
  std::string run;        // a recorded run whose groups are tried
  std::string directory;  // where the probe and its results are put; empty: a temporary directory of this machine
  unsigned seconds = 60;  // how long one call may take
  std::vector<std::string> command;
};

// Prints a line for each difference and a summary. 0: all equal; 1: something differs or failed; 2: the job could not
// be started; 3: not every rank came to the end.
int check_collectives(const CollectiveCheckOptions& options);

// The launcher's command line with the probe's in place of the job's script and its arguments; at its end where it has
// none. A script is a word that ends in .py, or -m with a module that is no launcher.
std::vector<std::string> with_probe(const std::vector<std::string>& command, const std::vector<std::string>& probe);

}  // namespace plumbline::tools
