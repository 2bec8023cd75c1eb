#include "checks/check.hpp"

#include <gtest/gtest.h>

#include <set>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

TEST(CheckTest, NamesAreDistinctAndQuestionsAreAsked) {
  std::set<std::string_view> names;
  for (const Check& check : all_checks()) {
    names.insert(check.name);
    EXPECT_FALSE(check.question.empty());
  }
  EXPECT_EQ(names.size(), all_checks().size());
}

TEST(CheckTest, EveryVerdictNamesItsCheckAndGivesAReason) {
  const TempDir directory;
  testing::write_trace(directory.path());
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  for (const Check& check : all_checks()) {
    const Verdict verdict = check.evaluate(subject);
    EXPECT_EQ(verdict.check, check.name);
    EXPECT_FALSE(verdict.reason.empty()) << check.name;
  }
}

// Never `pass` for lack of data: of a trace that holds nothing to judge, only its ending, and what it covers, is known.
TEST(CheckTest, NothingPassesWithoutData) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  for (const Check& check : all_checks()) {
    if (check.name == "crash" || check.name == "coverage") continue;
    EXPECT_EQ(check.evaluate(subject).status, Status::kNotEvaluated) << check.name;
  }
}

TEST(VerdictTest, StatusNamesAreThoseOfTheReports) {
  EXPECT_EQ(name_of(Status::kPass), "pass");
  EXPECT_EQ(name_of(Status::kFail), "fail");
  EXPECT_EQ(name_of(Status::kInconclusive), "inconclusive");
  EXPECT_EQ(name_of(Status::kNotEvaluated), "not_evaluated");
}

}  // namespace
}  // namespace plumbline::checks
