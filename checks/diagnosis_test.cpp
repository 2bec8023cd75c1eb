#include "checks/diagnosis.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;

Finding finding(std::string title, std::vector<std::int32_t> ranks, std::int64_t seq = -1) {
  Finding one;
  one.title = std::move(title);
  one.ranks = std::move(ranks);
  if (seq >= 0) one.place = {"default_pg", {0, 1}, seq, "all_reduce"};
  return one;
}

Verdict verdict(std::string check, std::vector<Finding> findings) {
  Verdict one;
  one.check = std::move(check);
  one.status = findings.empty() ? Status::kPass : Status::kFail;
  one.findings = std::move(findings);
  return one;
}

std::vector<std::string> titles(const Diagnosis& diagnosis, const std::vector<FindingRef>& refs) {
  std::vector<std::string> all;
  for (const FindingRef ref : refs) all.push_back(diagnosis.finding(ref).title);
  return all;
}

using Titles = std::vector<std::string>;

TEST(DiagnosisTest, NothingFoundHasNoRoot) {
  const Diagnosis diagnosis = arranged({verdict("hang", {}), verdict("crash", {})});
  EXPECT_EQ(diagnosis.root(), nullptr);
  EXPECT_TRUE(diagnosis.consequences.empty());
}

TEST(DiagnosisTest, AMismatchExplainsTheHangAndTheAbortAtTheSameCall) {
  const Diagnosis diagnosis =
      arranged({verdict("hang", {finding("hang", {0, 1}, 7)}), verdict("mismatch", {finding("mismatch", {0, 1}, 7)}),
                verdict("crash", {finding("abort", {0}, 7)})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), Titles{"mismatch"});
  EXPECT_EQ(titles(diagnosis, diagnosis.consequences), (Titles{"hang", "abort"}));
}

TEST(DiagnosisTest, AMismatchOfAnotherGroupOrALaterCallExplainsNothing) {
  Finding other = finding("mismatch", {0, 1}, 7);
  other.place.group = "tensor";
  const Diagnosis diagnosis =
      arranged({verdict("hang", {finding("hang", {1}, 7)}), verdict("mismatch", {other, finding("later", {1}, 8)})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), (Titles{"hang", "mismatch", "later"}));
}

TEST(DiagnosisTest, ARankThatDiedExplainsTheHangOfThoseThatWaitForIt) {
  const Diagnosis diagnosis =
      arranged({verdict("hang", {finding("hang", {1}, 3)}), verdict("crash", {finding("died", {1})})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), Titles{"died"});
  EXPECT_EQ(titles(diagnosis, diagnosis.consequences), Titles{"hang"});
}

// The launcher ended everything after one rank had given up waiting: that is how the hang ended, not why it began.
TEST(DiagnosisTest, AnEndByTimeoutFollowsFromTheHang) {
  Finding timeout = finding("timeout", {0});
  timeout.symptom = true;
  const Diagnosis diagnosis = arranged({verdict("hang", {finding("hang", {1}, 3)}), verdict("crash", {timeout})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), Titles{"hang"});
  EXPECT_EQ(titles(diagnosis, diagnosis.consequences), Titles{"timeout"});
}

TEST(DiagnosisTest, ARefusedRequestExplainsTheDeathOfItsRank) {
  const Diagnosis diagnosis =
      arranged({verdict("hang", {finding("hang", {1}, 3)}), verdict("memory", {finding("request", {1})}),
                verdict("crash", {finding("died", {1})})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), Titles{"request"});
  EXPECT_EQ(titles(diagnosis, diagnosis.consequences).size(), 2U);
}

TEST(DiagnosisTest, OpenQuestionsComeAfterFailures) {
  Finding open = finding("open", {0});
  open.status = Status::kInconclusive;
  const Diagnosis diagnosis = arranged({verdict("hang", {open}), verdict("straggler", {finding("slow", {2})})});
  EXPECT_EQ(titles(diagnosis, diagnosis.causes), (Titles{"slow", "open"}));
}

TEST(DiagnosisTest, CallsFromOtherLinesThatEndInAHangWereAFault) {
  Finding lines = finding("lines", {0, 1}, 3);
  lines.status = Status::kInconclusive;
  const Diagnosis diagnosis = arranged({verdict("hang", {finding("hang", {1}, 9)}), verdict("mismatch", {lines})});
  EXPECT_EQ(diagnosis.root()->title, "lines");
  EXPECT_EQ(diagnosis.root()->status, Status::kFail);
}

// One real run through all checks: gloo's abort for a size that does not fit.
TEST(DiagnosisTest, OfARunWithDifferentSizes) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  rank0.whole_call(10, 12, world0, Op::kAllReduce);
  rank0.wait(21, rank0.call(20, world0, Op::kAllReduce, {.count = 72}));
  rank0.exit(-1, 6);
  FakeRank rank1(directory.path(), 1, 2);
  const auto world1 = rank1.group("0", "default_pg", "0,1");
  rank1.whole_call(10, 12, world1, Op::kAllReduce);
  rank1.end(30, rank1.call(20, world1, Op::kAllReduce, {.count = 360}), Outcome::kFailed);
  rank1.exit(1, 0, "RuntimeError", "Connection reset by peer");
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  std::vector<std::string> asked;
  const Diagnosis diagnosis = diagnose(subject, [&](std::string_view check) { asked.emplace_back(check); });
  ASSERT_NE(diagnosis.root(), nullptr);
  EXPECT_EQ(diagnosis.verdicts[diagnosis.causes[0].verdict].check, "mismatch");
  EXPECT_EQ(diagnosis.causes.size(), 1U);
  EXPECT_EQ(diagnosis.consequences.size(), 2U);
  EXPECT_EQ(asked.size(), diagnosis.verdicts.size());
}

}  // namespace
}  // namespace plumbline::checks
