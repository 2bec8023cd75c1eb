// Flight recorder dumps of two jobs with injected faults, given to the diagnosis: every rank that a fault was put into
// is named, and no other.
#include <gtest/gtest.h>

#include <set>

#include "checks/diagnosis.hpp"
#include "reader/import/import.hpp"
#include "reader/testing/records.hpp"

namespace plumbline {
namespace {

std::set<int> blamed(const std::string& dumps) {
  const reader::testing::TempDir directory;
  const auto report = reader::imports::import_files({std::string(PLUMBLINE_CASES) + "/" + dumps}, directory / "run");
  EXPECT_TRUE(report.ok()) << report.status().message();
  const reader::Run run = reader::testing::open_run(directory / "run");
  const checks::Subject subject(run);
  const checks::Diagnosis diagnosis = checks::diagnose(subject);
  std::set<int> ranks;
  for (const checks::Verdict& verdict : diagnosis.verdicts)
    for (const checks::Finding& finding : verdict.findings) ranks.insert(finding.ranks.begin(), finding.ranks.end());
  const checks::Finding* const root = diagnosis.root();
  EXPECT_NE(root, nullptr);
  EXPECT_TRUE(root == nullptr || !root->ranks.empty()) << "a rank comes first";
  return ranks;
}

TEST(ImportCasesTest, RanksThatHoldTheInterpreterLockAreNamed) {
  EXPECT_EQ(blamed("fr_nvrx/fr_traces/lock_gil_2nd"), (std::set<int>{10, 15}));
}

TEST(ImportCasesTest, RanksWithAGpuErrorAreNamed) {
  EXPECT_EQ(blamed("fr_nvrx/fr_traces/gpu_error_2nd"), (std::set<int>{9, 14}));
}

}  // namespace
}  // namespace plumbline
