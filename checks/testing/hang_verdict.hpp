// What the tests of the hang check ask of a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/hang.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks::testing {

inline Verdict verdict_of(const reader::testing::TempDir& directory) {
  const reader::Run run = reader::testing::open_run(directory.path());
  return check_hang(Subject(run));
}

inline bool mentions(const std::vector<std::string>& lines, std::string_view words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

inline std::string all_of(const Finding& finding) {
  std::string text = finding.title;
  for (const std::string& line : finding.details) text += "\n" + line;
  for (const std::string& line : finding.unknown) text += "\nnot known: " + line;
  return text;
}

}  // namespace plumbline::checks::testing
