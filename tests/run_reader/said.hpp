// Calls run-reader as a shell would.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/run_reader/run_reader.hpp"

namespace plumbline::tests {

struct Said {
  int status = -1;
  std::string out;
  std::string err;

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  // The whole output as one document; discarded() where it is none.
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
  // Each line as a document.
  std::vector<nlohmann::json> json_lines() const {
    std::vector<nlohmann::json> all;
    for (const std::string& line : lines()) all.push_back(nlohmann::json::parse(line, nullptr, false));
    return all;
  }
};

inline Said run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Said said;
  said.status = tools::run_reader(arguments, out, err, false);
  said.out = out.str();
  said.err = err.str();
  return said;
}

}  // namespace plumbline::tests
