// `plumbline run`: starts a job under the preload object.
#pragma once

#include <string>
#include <vector>

namespace plumbline::tools {

struct LaunchOptions {
  std::string directory;  // where the run directory is made; empty: PLUMBLINE_DIR or the current directory
  std::string level;      // empty: as the environment says
  std::string python;     // empty: the one that the command runs
  std::vector<std::string> command;
};

// Sets the environment up and becomes the command. A part of Plumbline that is missing is said on stderr, and the
// command runs without it. Returns only when the command could not be started: 127 when it was not found, else 126.
int launch(const LaunchOptions& options);

// The preload object beside this program (same directory, ../lib, ../lib64), empty when it is not there.
std::string find_preload_object();

// LD_PRELOAD with `object` in it: after what is there, so that another shim still sees what we forward.
std::string with_preload(const std::string& existing, const std::string& object);

}  // namespace plumbline::tools
