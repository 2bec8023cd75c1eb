// What tests ask of a check, and of what it says.
//
//   const Verdict verdict = verdict_of(check_crash, directory);
//   ASSERT_EQ(verdict.status, Status::kFail) << said(verdict);
//   EXPECT_TRUE(mentions(verdict.findings[0].details, "rank 1"));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::checks::testing {

inline Verdict verdict_of(Verdict (*check)(const Subject&), const reader::testing::TempDir& directory) {
  const reader::Run run = reader::testing::open_run(directory.path());
  return check(Subject(run));
}

inline bool mentions(const std::vector<std::string>& lines, std::string_view words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return true;
  }
  return false;
}

// Everything that a finding says.
inline std::string all_of(const Finding& finding) {
  std::string text = finding.title;
  for (const std::string& line : finding.details) text += "\n" + line;
  for (const std::string& line : finding.unknown) text += "\nnot known: " + line;
  return text + "\nnext: " + finding.next;
}

// Everything that a verdict says.
inline std::string said(const Verdict& verdict) {
  std::string text = verdict.reason;
  for (const Finding& finding : verdict.findings) text += "\n" + all_of(finding);
  for (const std::string& line : verdict.unknown) text += "\nnot known: " + line;
  return text;
}

}  // namespace plumbline::checks::testing
