#include "checks/memory_request.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

constexpr std::uint64_t kVocabulary = 30001;

// Logits of rows that become longer in each step; those of the last do not fit.
RequestExplanation explained(const RunDimensions& dimensions) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const double at = 10.0 * static_cast<double>(step);
    rank.alloc(at + 1, 0x1000, (100 << step) * kVocabulary * 4);
    rank.free(at + 2, 0x1000);
    rank.step(at + 3, at + 4);
  }
  rank.fail(31, 800 * kVocabulary * 4);
  rank.exit(1);
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const MemoryProfile profile = memory_profile_of(run.traces()[0]);
  const RefusedRequest& refused = profile.refused.at(0);
  return explain_request(subject, 0, refused, profile.pools[refused.event.block.pool].pool, dimensions);
}

StepShape length(std::int64_t step, std::uint64_t value) { return {step, -1, {{"length", value}}}; }

TEST(MemoryRequestTest, TheFormulaFitsAllStepsWhoseShapeIsKnown) {
  const RequestExplanation explanation =
      explained({{{"vocabulary", kVocabulary}}, {length(0, 100), length(1, 200), length(2, 400), length(3, 800)}});
  ASSERT_FALSE(explanation.sizes.classes.empty());
  EXPECT_EQ(explanation.sizes.classes[0].formula.text(), "length x vocabulary x 4 B");
  EXPECT_EQ(explanation.sizes.observations, 4U);
  const auto lines = explanation_lines(explanation, 800 * kVocabulary * 4);
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0], "96003200 B = 800 x 30001 x 4 B: length x vocabulary x 4 B");
  EXPECT_EQ(lines[1], "the formula fits this request and all 3 steps whose shape is known");
  EXPECT_EQ(lines[2].rfind("grows linearly with the row length", 0), 0U) << lines[2];
}

TEST(MemoryRequestTest, AStepThatAskedForSomethingElseRefutesIt) {
  const RequestExplanation explanation =
      explained({{{"vocabulary", kVocabulary}}, {length(0, 100), length(1, 250), length(3, 800)}});
  EXPECT_TRUE(explanation.sizes.classes.empty());
  EXPECT_TRUE(explanation_lines(explanation, 800 * kVocabulary * 4).empty());
}

TEST(MemoryRequestTest, WithoutDimensionsNothingIsExplained) { EXPECT_TRUE(explained({}).sizes.classes.empty()); }

TEST(MemoryRequestTest, BytesAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("20.5 GiB is free"), 22011707392U);
  EXPECT_EQ(parse_bytes("512 bytes"), 512U);
  EXPECT_EQ(parse_bytes("3 KiB"), 3072U);
  EXPECT_FALSE(parse_bytes("-1 GiB"));
  EXPECT_FALSE(parse_bytes("20 parsecs"));
  EXPECT_FALSE(parse_bytes(""));
}

TEST(MemoryRequestTest, WhatWasFreeIsReadFromTheException) {
  const auto free_with = [](std::string_view message) {
    const TempDir directory;
    FakeRank rank(directory.path(), 0, 1);
    rank.exit(1, 0, "OutOfMemoryError", message);
    const reader::Run run = open_run(directory.path());
    return free_bytes(run.traces()[0]);
  };
  EXPECT_EQ(free_with("GPU 0 has a total capacity of 79.15 GiB of which 2 GiB is free."), 2147483648U);
  EXPECT_FALSE(free_with("GPU 0 has a total capacity of 79.15 GiB of which nothing is known."));
  EXPECT_FALSE(free_with("can't allocate memory"));
}

}  // namespace
}  // namespace plumbline::checks
