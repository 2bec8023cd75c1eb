// What the ranks of check-collectives left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::tools {

struct ProbeResults {
  int world = 0;  // as the ranks say; 0: none came far enough to say it
  std::string backend;
  std::string torch;
  std::uint64_t calls = 0;              // of all ranks
  std::vector<std::string> failures;    // a sentence each
  std::vector<std::string> skipped;     // operations that the backend lacks, once each
  std::vector<std::string> unfinished;  // a sentence for each rank without an end
};

// Of the files `rank-<R>.jsonl` in a directory. A line that is no JSON object is where its rank died.
ProbeResults read_probe_results(const std::string& directory);

}  // namespace plumbline::tools
