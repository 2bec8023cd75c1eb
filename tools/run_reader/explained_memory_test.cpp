#include "tools/run_reader/explained_memory.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::tools {
namespace {

struct Explained {
  bool done = false;
  std::string complaint;
  std::vector<checks::Verdict> verdicts;

  bool says(std::string_view words) const {
    for (const checks::Verdict& verdict : verdicts)
      for (const checks::Finding& finding : verdict.findings)
        for (const std::string& detail : finding.details)
          if (detail.find(words) != std::string::npos) return true;
    return false;
  }
};

// A rank that asks for 800 x 30001 numbers and does not get them.
Explained explained(const std::string& dims) {
  const reader::testing::TempDir directory;
  checks::testing::FakeRank rank(directory.path(), 0, 1);
  rank.fail(1, 800 * 30001 * 4);
  rank.exit(1);
  const reader::Run run = reader::testing::open_run(directory.path());
  const checks::Subject subject(run);
  Options options;
  options.dims = dims;
  std::ostringstream out;
  std::ostringstream err;
  checks::Verdict hang;
  hang.check = "hang";
  hang.reason = "as it was";
  checks::Verdict memory;
  memory.check = "memory";
  Explained result;
  result.verdicts = {hang, memory};
  result.done = explain_memory(Context{options, run, subject, out, err}, result.verdicts);
  result.complaint = err.str();
  return result;
}

TEST(ExplainedMemoryTest, GivenDimensionsExplainTheRequest) {
  const Explained result = explained("vocabulary=30001,length@0=800");
  EXPECT_TRUE(result.done);
  EXPECT_TRUE(result.says("length x vocabulary x 4 B"));
  EXPECT_EQ(result.verdicts[0].reason, "as it was");
}

TEST(ExplainedMemoryTest, WithoutAnyTheVerdictStays) {
  const Explained result = explained("");
  EXPECT_TRUE(result.done);
  EXPECT_TRUE(result.verdicts[1].findings.empty());
}

TEST(ExplainedMemoryTest, UnusableOnesAreRefusedInOneSentence) {
  const Explained result = explained("vocabulary=many");
  EXPECT_FALSE(result.done);
  EXPECT_EQ(result.complaint.rfind("run-reader: ", 0), 0U) << result.complaint;
}

}  // namespace
}  // namespace plumbline::tools
