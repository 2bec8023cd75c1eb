#include "checks/batch_shapes.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

// Steps of 100 ms with a batch of two rows each, the lengths given.
void train(FakeRank& rank, const std::vector<std::int64_t>& lengths) {
  double ms = 0;
  for (const std::int64_t length : lengths) {
    rank.batch(ms + 1, 2, length);
    rank.step(ms + 10, ms + 20);
    ms += 100;
  }
}

TEST(BatchShapesTest, AreReadInOrder) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  train(rank, {16, 512});
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const std::vector<BatchShape> shapes = batch_shapes(run.traces()[0]);
  EXPECT_EQ(shapes, (std::vector<BatchShape>{{rank.at(1), 2, 16}, {rank.at(101), 2, 512}}));
  EXPECT_EQ(batch_at(shapes, rank.at(0.5)), std::nullopt);
  EXPECT_EQ(batch_at(shapes, rank.at(1)), shapes[0]);
  EXPECT_EQ(batch_at(shapes, rank.at(5000)), shapes[1]);
}

TEST(BatchShapesTest, TheLongestRowSoFarIsSaidToBe) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  train(rank, {16, 512, 64});
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  const reader::Trace& trace = run.traces()[0];
  EXPECT_EQ(batch_text(trace, rank.at(105)),
            "the batch then: 2 rows of 512 tokens, the longest so far (before it at most 16)");
  EXPECT_EQ(batch_text(trace, rank.at(205)), "the batch then: 2 rows of 64 tokens");
  EXPECT_EQ(batch_text(trace, rank.at(0)), "");
}

struct Recorded : ::testing::Test {
  Recorded() : rank(directory.path(), 0, 1) {
    rank.trace().fact("model.vocabulary", "32000");
    rank.trace().fact("model.hidden", "64");
    train(rank, {16, 512, 16});
    // Two micro-batches of other lengths, and the step that fails.
    rank.batch(301, 2, 32);
    rank.batch(305, 2, 48);
    rank.step(310, 320);
    rank.batch(401, 2, 24);
    rank.batch(405, 2, 900);
    rank.exit(1);
  }

  RunDimensions known(RunDimensions given) const {
    const reader::Run run = open_run(directory.path());
    return with_recorded(Subject(run), 0, rank.at(410), std::move(given));
  }

  TempDir directory;
  FakeRank rank;
};

TEST_F(Recorded, ShapesAreThoseOfTheFailureAndOfStepsThatHadOne) {
  const RunDimensions dimensions = known({});
  EXPECT_EQ(dimensions.fixed, (std::vector<Dimension>{{"vocabulary", 32000}, {"hidden", 64}}));
  EXPECT_EQ(dimensions.shape_at(4, 0), (std::vector<Dimension>{{"batch", 2}, {"length", 900}}));
  EXPECT_TRUE(dimensions.shape_at(3, 0).empty());
  EXPECT_EQ(dimensions.shape_at(2, 0), (std::vector<Dimension>{{"batch", 2}, {"length", 16}}));
  EXPECT_EQ(dimensions.shape_at(1, 0), (std::vector<Dimension>{{"batch", 2}, {"length", 512}}));
  // The same shape as step 2's.
  EXPECT_TRUE(dimensions.shape_at(0, 0).empty());
}

TEST_F(Recorded, WhatIsGivenGoesBeforeWhatWasRecorded) {
  const RunDimensions named = known({.fixed = {{"hidden", 8}}, .shapes = {}});
  EXPECT_EQ(value_of(named.fixed, "hidden"), 8U);
  EXPECT_EQ(value_of(named.fixed, "vocabulary"), 32000U);
  const RunDimensions batch = known({.fixed = {{"length", 7}}, .shapes = {}});
  EXPECT_TRUE(batch.shapes.empty());
  EXPECT_EQ(batch.of_batch(), (std::vector<Dimension>{{"length", 7}}));
}

TEST(BatchShapesTest, ARunWithoutAnEmbeddingHasNone) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  rank.step(1, 2);
  rank.exit(0);
  const reader::Run run = open_run(directory.path());
  EXPECT_TRUE(batch_shapes(run.traces()[0]).empty());
  const RunDimensions dimensions = with_recorded(Subject(run), 0, rank.at(5), {});
  EXPECT_TRUE(dimensions.fixed.empty());
  EXPECT_TRUE(dimensions.shapes.empty());
}

}  // namespace
}  // namespace plumbline::checks
