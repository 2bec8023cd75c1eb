// `plumbline compare-outputs ORIGINAL EXPORTED`: loads both directories in the job's own transformers, lets them answer
// the same prompts greedily, and compares the answers and their logits.
#pragma once

#include <string>

namespace plumbline::tools {

struct OutputCompareOptions {
  std::string original;
  std::string exported;
  std::string python;   // empty: python3 of PATH
  std::string prompts;  // a file with a prompt a line; empty: a few texts, and random tokens
  std::string device = "cpu";
  unsigned tokens = 16;  // of an answer, at most
  bool trust_remote_code = false;
  bool json = false;
};

// Prints the verdict. 0: the same bit for bit; 1: they differ; 2: nothing could be compared; 3: open.
int compare_outputs(const OutputCompareOptions& options);

}  // namespace plumbline::tools
