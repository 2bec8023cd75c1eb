#include "checks/coverage_probes.hpp"

#include <gtest/gtest.h>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::CaptureJob;

std::vector<CoverageGap> gaps_of(const std::vector<std::string>& notes_of_ranks, std::string* reason = nullptr) {
  const TempDir directory;
  int rank = 0;
  for (const std::string& detail : notes_of_ranks) {
    testing::write_trace(directory.path(), rank, static_cast<int>(notes_of_ranks.size()));
    CaptureJob job(directory.path(), rank++);
    job.note("probes", "", -1, R"({"armed":["input_ids","loss"],"ended":false})");
    job.note("probes", "", -1, detail);
    job.finish();
  }
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const Verdict verdict = check_coverage(subject);
  EXPECT_EQ(verdict.status, Status::kPass) << "it costs details only";
  if (reason != nullptr) *reason = verdict.unknown.empty() ? "" : verdict.unknown.front();
  return probe_gaps(subject);
}

TEST(CoverageProbesTest, WhatFiredIsNoGap) {
  EXPECT_TRUE(gaps_of({R"({"armed":["input_ids"],"ended":true,"fired":{"input_ids":3},"never":[]})"}).empty());
}

TEST(CoverageProbesTest, TheUsualProbesSayWhatWasNotThere) {
  const std::string detail =
      R"({"armed":["input_ids","labels","logits","loss"],"ended":true,"never":["labels","logits","loss"]})";
  std::string said;
  const auto gaps = gaps_of({detail, detail}, &said);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].what,
            "probes labels, logits, loss never fired: no cross_entropy or nll_loss of torch ran in a captured step: "
            "another loss, or a compiled one, needs a template that names its place");
  EXPECT_EQ(gaps[0].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(said, gaps[0].what) << "check coverage shows it";
}

TEST(CoverageProbesTest, AFusedHeadHasNoLogits) {
  EXPECT_TRUE(gaps_of({R"({"armed":["input_ids","labels","logits","loss"],"ended":true,"fired":{"input_ids":3,)"
                       R"("head.hidden":3},"never":["labels","logits","loss"]})"})
                  .empty());
}

TEST(CoverageProbesTest, ATemplatesPlacesSayWhy) {
  const auto gaps = gaps_of({R"({"armed":["a","input_ids"],"ended":true,"never":["a"],"reasons":{"a":["x","y"]}})"});
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].what, "probe a never fired: x; y");
}

TEST(CoverageProbesTest, NoneAtAll) {
  const auto gaps = gaps_of({R"({"armed":["input_ids","loss"],"ended":true,"never":["input_ids","loss"]})"});
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].what.find("none of its 2 probes fired"), 0U);
}

}  // namespace
}  // namespace plumbline::checks
