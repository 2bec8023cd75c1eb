// Opens a file or a directory as a checkpoint and looks at every byte that it says it has.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plumbline::fuzz {

struct CheckpointOutcome {
  bool opened = false;
  std::string sentence;               // why not
  std::vector<std::string> problems;  // of one that was opened
  std::vector<std::string> files;     // that were read
  std::size_t tensors = 0;
};

CheckpointOutcome read_checkpoint(const std::string& path);

// Small whole files, by file name.
std::vector<std::pair<std::string, std::string>> checkpoint_seeds();

}  // namespace plumbline::fuzz
