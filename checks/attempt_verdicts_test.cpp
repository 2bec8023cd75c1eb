#include "checks/attempt_verdicts.hpp"

#include <gtest/gtest.h>

#include "checks/check.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Dtype;
using testing::CaptureJob;
using testing::RankOptions;

AttemptVerdict verdict_of(const std::string& label, Status status, const std::string& reason) {
  AttemptVerdict one{label, {}};
  one.verdict.check = "optimizer";
  one.verdict.status = status;
  one.verdict.reason = reason;
  return one;
}

TEST(AttemptVerdicts, OneStaysAsItIs) {
  const Verdict verdict = over_attempts({verdict_of("", Status::kPass, "all agree")});
  EXPECT_EQ(verdict.check, "optimizer");
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "all agree");
  EXPECT_TRUE(verdict.unknown.empty());
}

TEST(AttemptVerdicts, TheWorstCounts) {
  AttemptVerdict failed = verdict_of("attempt 1", Status::kFail, "one is wrong");
  failed.verdict.findings.resize(1);
  failed.verdict.findings[0].title = "w is wrong";
  failed.verdict.unknown = {"the rest"};
  AttemptVerdict open = verdict_of("attempt 0", Status::kInconclusive, "who knows");
  open.verdict.findings.resize(1);
  open.verdict.findings[0].status = Status::kInconclusive;
  const Verdict verdict = over_attempts({open, failed, verdict_of("attempt 2", Status::kPass, "all agree")});
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.reason, "attempt 1: one is wrong");
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].title, "attempt 1: w is wrong");
  EXPECT_EQ(verdict.unknown, std::vector<std::string>{"attempt 1: the rest"});
}

TEST(AttemptVerdicts, OfWhatCouldNotBeEvaluatedAPassTells) {
  const Verdict verdict = over_attempts(
      {verdict_of("attempt 0", Status::kNotEvaluated, "no step"), verdict_of("attempt 1", Status::kPass, "all agree")});
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "attempt 1: all agree");
  EXPECT_EQ(verdict.unknown, std::vector<std::string>{"attempt 0: no step"});
  const Verdict none = over_attempts({verdict_of("attempt 0", Status::kNotEvaluated, "no step")});
  EXPECT_EQ(none.status, Status::kNotEvaluated);
  EXPECT_TRUE(none.unknown.empty());
}

// One step of SGD from `before`.
void write(const TempDir& directory, int rank, const RankOptions& options, float before, float lr = 0.5F) {
  testing::FakeRank trace(directory.path(), rank, 1, options);
  trace.step(1, 2);
  trace.exit(0);
  const std::string folder = directory / "captures";
  CaptureJob job(directory.path(), rank, options);
  job.step_note(0, "SGD",
                {R"({"settings":{"lr":0.5,"momentum":0,"dampening":0,"weight_decay":0,"nesterov":false,)"
                 R"("maximize":false,"foreach":false},"params":["w"]})"},
                "torch.optim.sgd");
  const auto tensor = [&](const std::string& probe, float value) {
    job.tensor(probe, "w", 0, Dtype::kFloat32, {2}, testing::bytes_of(std::vector<float>{value, value}));
  };
  tensor("grad", 1);
  tensor("param.before", before);
  tensor("param.after", before - lr);
  job.finish();
}

RankOptions at(std::uint32_t pid, int attempt, std::uint64_t start_s) {
  RankOptions options;
  options.pid = pid;
  options.attempt = attempt;
  options.start_monotonic_ns = start_s * 1'000'000'000;
  options.start_realtime_ns += options.start_monotonic_ns;
  return options;
}

Verdict optimizer_verdict(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  for (const Check& check : all_checks()) {
    if (check.name == "optimizer") return evaluate(check, subject);
  }
  return {};
}

// Steps of the same number, from other parameters each time.
TEST(AttemptVerdicts, RestartsAndLaunchesAreLookedAtByThemselves) {
  const TempDir directory;
  write(directory, 0, at(10, 0, 5), 1);
  write(directory, 0, at(11, 1, 10), 4);
  write(directory, 0, at(12, 0, 500), 8);
  const Verdict verdict = optimizer_verdict(directory);
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.reason;
  EXPECT_NE(verdict.reason.find("launch 0, attempt 0: "), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("launch 0, attempt 1: "), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("launch 1: "), std::string::npos) << verdict.reason;
}

TEST(AttemptVerdicts, TheFaultyAttemptIsNamed) {
  const TempDir directory;
  write(directory, 0, at(10, 0, 5), 1);
  write(directory, 0, at(11, 1, 10), 4, 0.25F);
  const Verdict verdict = optimizer_verdict(directory);
  ASSERT_EQ(verdict.status, Status::kFail) << verdict.reason;
  EXPECT_EQ(verdict.findings[0].title.find("attempt 1: step 0, rank 0: w"), 0U) << verdict.findings[0].title;
}

TEST(AttemptVerdicts, SeveralProcessesOfOneRankAreNamed) {
  const TempDir directory;
  write(directory, 0, at(10, 0, 5), 1);
  write(directory, 0, at(11, 0, 5), 2);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  ASSERT_EQ(subject.capture_sets().all.size(), 2U);
  EXPECT_EQ(capture_set_label(subject, 0), "process 10 of rank 0");
  EXPECT_EQ(capture_set_label(subject, 1), "process 11 of rank 0");
}

}  // namespace
}  // namespace plumbline::checks
