#include "checks/capture_doubts.hpp"

#include <gtest/gtest.h>

#include "checks/check.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::CaptureJob;

struct Rank {
  std::string torch;
  std::vector<std::int64_t> steps;
};

void write(const TempDir& directory, const std::vector<Rank>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(i);
    testing::FakeRank trace(directory.path(), rank, static_cast<std::int32_t>(ranks.size()));
    if (!ranks[i].torch.empty()) trace.trace().fact("torch.version", ranks[i].torch);
    trace.step(1, 2);
    trace.exit(0);
    CaptureJob job(directory.path(), rank);
    for (const std::int64_t step : ranks[i].steps) job.step_note(step, "SGD", {});
    job.note("loss", "x", 0, "{}");
    job.finish();
  }
}

std::vector<std::string> doubts(const std::vector<Rank>& ranks) {
  const TempDir directory;
  write(directory, ranks);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  EXPECT_EQ(subject.capture_sets().all.size(), 1U);
  return capture_doubts(subject, subject.capture_sets().all.front());
}

std::vector<std::string> between(const std::vector<Rank>& ranks, const std::vector<Rank>& reference) {
  const TempDir directory;
  const TempDir other;
  write(directory, ranks);
  write(other, reference);
  const reader::Run run = open_run(directory.path());
  const reader::Run other_run = open_run(other.path());
  return reference_doubts(Subject(run), Subject(other_run));
}

using Texts = std::vector<std::string>;

TEST(CaptureDoubts, NoneWhereVersionsAndStepsAreOne) {
  EXPECT_TRUE(doubts({{"2.11.0", {0, 1}}, {"2.11.0", {0, 1}}}).empty());
  // One was killed in the middle, one has no optimizer, one does not tell its version.
  EXPECT_TRUE(doubts({{"2.11.0", {0, 1}}, {"", {0}}, {"2.11.0", {}}}).empty());
}

TEST(CaptureDoubts, VersionsThatDiffer) {
  EXPECT_EQ(doubts({{"2.11.0", {0}}, {"2.6.0", {0}}, {"2.11.0", {0}}}),
            Texts{"the ranks ran different versions, which may round otherwise: torch 2.11.0 on ranks 0,2, torch 2.6.0 "
                  "on rank 1; install one version for all ranks"});
}

TEST(CaptureDoubts, StepsWithNoneInCommon) {
  EXPECT_EQ(doubts({{"", {0, 1}}, {"", {2, 3, 5}}}),
            Texts{"rank 0 captured steps 0,1 and rank 1 steps 2,3,5, none in common: give all ranks one "
                  "PLUMBLINE_CAPTURE_STEPS"});
}

TEST(CaptureDoubts, TwoRunsOfOneKind) {
  EXPECT_TRUE(between({{"2.11.0", {0}}}, {{"2.11.0", {4}}}).empty());
  EXPECT_TRUE(between({{"", {0}}}, {{"2.11.0", {4}}}).empty());
}

TEST(CaptureDoubts, TwoRunsOfDifferentKinds) {
  EXPECT_EQ(
      between({{"2.11.0", {0}}, {"2.11.0", {0}}}, {{"2.6.0", {0}}}),
      (Texts{"this run has torch 2.11.0, the reference torch 2.6.0, and the same step may round otherwise: resume "
             "with the reference's version",
             "this run has 2 ranks, the reference 1, and each takes another part of a batch: resume on as many "
             "ranks"}));
}

TEST(CaptureDoubts, NoCheckOfCapturesPasses) {
  for (const std::vector<Rank>& ranks :
       {std::vector<Rank>{{"2.11.0", {0}}, {"2.6.0", {0}}}, std::vector<Rank>{{"", {0}}, {"", {1}}}}) {
    const TempDir directory;
    write(directory, ranks);
    const reader::Run run = open_run(directory.path());
    const Subject subject(run);
    for (const Check& check : all_checks()) {
      if (!check.of_captures && check.name != "coverage") continue;
      const Verdict verdict = evaluate(check, subject);
      EXPECT_NE(verdict.status, Status::kPass) << check.name;
      EXPECT_NE(verdict.status, Status::kFail) << check.name << ": " << verdict.reason;
      EXPECT_FALSE(verdict.unknown.empty()) << check.name;
    }
  }
}

}  // namespace
}  // namespace plumbline::checks
