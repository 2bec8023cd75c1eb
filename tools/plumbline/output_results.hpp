// What the script of compare-outputs left behind.
#pragma once

#include <optional>
#include <string>

#include "checks/outputs.hpp"

namespace plumbline::tools {

struct OutputResults {
  std::string stage;    // what it was at last, "loading DIRECTORY"; empty: it did not begin
  std::string refused;  // a sentence: why nothing could be compared
  std::optional<checks::OutputComparison> comparison;
};

OutputResults read_output_results(const std::string& path);

}  // namespace plumbline::tools
