// How a run was launched, as its traces tell: what it takes to launch it again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reader/run.hpp"
#include "reader/status.hpp"

namespace plumbline::tools {

struct RecordedLaunch {
  std::vector<std::string> command;
  std::string executable;  // what the first word led to, links resolved
  std::string directory;   // that it was started in
  // Every reported variable (recorder/reported_variables.hpp) that it was started with, but those of the preloading and
  // of the run directory.
  std::map<std::string, std::string> variables;
  bool by_launcher = false;  // the command starts the ranks; else it is the only rank itself
};

// Of the run's last launch. Fails, with one sentence, where one command on one machine does not repeat it.
reader::Result<RecordedLaunch> recorded_launch(const reader::Run& run);

}  // namespace plumbline::tools
