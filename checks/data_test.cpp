#include "checks/data.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"
#include "checks/testing/row_job.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::Ids;
using testing::RowPass;

const std::string kSettings = R"({"bos":1,"eos":2,"pad":0})";

Verdict verdict_of(const std::vector<RowPass>& passes, int ranks = 1) {
  const TempDir directory;
  for (int rank = 0; rank < ranks; ++rank) {
    testing::write_trace(directory.path(), rank, ranks);
    testing::write_rows(directory.path(), passes, rank);
  }
  return testing::verdict_of(check_data, directory);
}

// Four rows in two micro-batches, with labels but for the first token.
std::vector<RowPass> right() {
  return {{.rows = 2, .ids = {1, 7, 8, 9, 1, 5, 6, 2}, .labels = {7, 8, 9, -100, 5, 6, 2, -100}, .detail = kSettings},
          {.rows = 2,
           .ids = {1, 4, 4, 2, 1, 9, 3, 2},
           .labels = {4, 4, 2, -100, 9, 3, 2, -100},
           .detail = kSettings,
           .micro = 1}};
}

std::vector<RowPass> begun_twice() {
  std::vector<RowPass> passes = right();
  passes[0].ids = {1, 1, 8, 9, 1, 1, 6, 2};
  passes[1].ids = {1, 1, 4, 2, 1, 1, 3, 2};
  return passes;
}

std::vector<RowPass> without_settings(std::vector<RowPass> passes) {
  for (RowPass& pass : passes) pass.detail.clear();
  return passes;
}

TEST(DataTest, RightRowsPass) {
  EXPECT_EQ(verdict_of(right()).status, Status::kPass);
  EXPECT_EQ(verdict_of(right()).reason, "4 rows begin with no token twice; 4 were looked at for labels");
  EXPECT_EQ(verdict_of(without_settings(right())).status, Status::kPass);
}

TEST(DataTest, TheModelsBeginningTwiceFails) {
  const Verdict verdict = verdict_of(begun_twice(), 2);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title,
            "step 0, ranks 0,1: input_ids begin with token 1, the model's bos_token_id, twice in all 4 rows");
  EXPECT_EQ(verdict.findings[0].details.front(), "a row begins [1, 1, 8, 9]");
}

TEST(DataTest, OfATokenThatNobodyDeclaresItStaysOpen) {
  const Verdict verdict = verdict_of(without_settings(begun_twice()));
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_NE(verdict.reason.find("begin with token 1 twice in all 4 rows"), std::string::npos) << verdict.reason;
}

TEST(DataTest, ABatchOfSuchRowsAmongOthersIsNamed) {
  std::vector<RowPass> passes = right();
  passes[1] = begun_twice()[1];
  EXPECT_NE(verdict_of(passes).reason.find("twice in 2 of 4 rows (all rows of 1 of 2 batches)"), std::string::npos);
  EXPECT_EQ(verdict_of(passes).status, Status::kFail);
  EXPECT_EQ(verdict_of(without_settings(passes)).status, Status::kInconclusive);
  // One row may hold the token in its text.
  passes = right();
  passes[1].ids[1] = 1;
  EXPECT_EQ(verdict_of(passes).status, Status::kInconclusive);
  EXPECT_EQ(verdict_of(without_settings(passes)).status, Status::kPass);
}

TEST(DataTest, WhatOnlyLooksLikeTwoBeginningsIsSilent) {
  // Padding on the left, told by the mask; and a token that fills the row, as of an image.
  std::vector<RowPass> padded = right();
  padded[0].ids = {0, 0, 1, 9, 0, 0, 1, 2};
  padded[1].ids = {0, 0, 1, 8, 0, 0, 1, 3};
  padded[0].mask = padded[1].mask = {0, 0, 1, 1, 0, 0, 1, 1};
  EXPECT_EQ(verdict_of(without_settings(padded)).status, Status::kPass);
  std::vector<RowPass> filled = without_settings(right());
  filled[0].ids = {3, 3, 3, 9, 3, 3, 3, 2};
  filled[1].ids = {3, 3, 3, 8, 3, 3, 3, 7};
  EXPECT_EQ(verdict_of(filled).status, Status::kPass);
  // The same batch again and again tells nothing of rows.
  std::vector<RowPass> one = without_settings(right());
  one[0].ids = one[1].ids = {4, 4, 8, 9, 4, 4, 8, 9};
  EXPECT_EQ(verdict_of(one).status, Status::kPass);
}

TEST(DataTest, PaddingThatIsTheBeginningIsLeftAloneWithoutAMask) {
  std::vector<RowPass> passes = begun_twice();
  for (RowPass& pass : passes) pass.detail = R"({"bos":1,"eos":1,"pad":1})";
  EXPECT_EQ(verdict_of(passes).status, Status::kPass);
  for (RowPass& pass : passes) pass.mask = Ids(8, 1);
  EXPECT_EQ(verdict_of(passes).status, Status::kFail);
}

TEST(DataTest, DocumentsOfAPackedRowAreLookedAtOneByOne) {
  const RowPass packed{.ids = {1, 1, 8, 2, 1, 1, 9, 2},
                       .positions = {0, 1, 2, 3, 0, 1, 2, 3},
                       .labels = {1, 8, 2, -100, 1, 9, 2, -100},
                       .detail = kSettings};
  EXPECT_NE(verdict_of({packed}).reason.find("twice in all 2 rows"), std::string::npos) << verdict_of({packed}).reason;
}

TEST(DataTest, LabelsOverTheBoundaryOfDocumentsAreARemark) {
  RowPass packed{.ids = {1, 7, 8, 2, 1, 6, 9, 2},
                 .positions = {0, 1, 2, 3, 0, 1, 2, 3},
                 .labels = {7, 8, 2, 1, 6, 9, 2, -100},
                 .detail = kSettings};
  const Verdict crossed = verdict_of({packed});
  EXPECT_EQ(crossed.status, Status::kPass);
  ASSERT_EQ(crossed.unknown.size(), 1u);
  EXPECT_EQ(crossed.unknown[0],
            "whether the first token of 1 of 1 documents is meant to be learned from the end of the one before it in "
            "their row");
  packed.labels[3] = -100;
  EXPECT_TRUE(verdict_of({packed}).unknown.empty());
}

TEST(DataTest, NoLabelAnywhereFails) {
  std::vector<RowPass> passes = right();
  for (RowPass& pass : passes) pass.labels = Ids(8, -100);
  const Verdict verdict = verdict_of(passes);
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_EQ(verdict.reason, "step 0, rank 0: labels are ignored in all 4 captured rows: nothing is learned");
}

TEST(DataTest, AnotherIgnoredLabelIsRead) {
  std::vector<RowPass> passes = right();
  for (RowPass& pass : passes) {
    pass.labels = Ids(8, -1);
    pass.detail = R"({"ignore_index":-1})";
  }
  EXPECT_EQ(verdict_of(passes).status, Status::kFail);
}

TEST(DataTest, MostRowsWithoutALabelStayOpenAFewAreARemark) {
  std::vector<RowPass> passes = right();
  passes[0].labels = Ids(8, -100);
  const Verdict half = verdict_of(passes);
  EXPECT_EQ(half.status, Status::kPass);
  ASSERT_EQ(half.unknown.size(), 1u);
  EXPECT_EQ(half.unknown[0], "whether 2 of 4 rows are meant to have no label: nothing is learned from them");
  passes[1].labels = {-100, -100, -100, -100, 9, 3, 2, -100};
  const Verdict most = verdict_of(passes);
  EXPECT_EQ(most.status, Status::kInconclusive);
  EXPECT_EQ(most.reason, "step 0, rank 0: labels are ignored throughout 3 of 4 captured rows");
}

TEST(DataTest, WithoutLabelsOrRowsItSaysSo) {
  std::vector<RowPass> passes = right();
  for (RowPass& pass : passes) pass.labels.clear();
  EXPECT_EQ(verdict_of(passes).unknown.front(), "whether every row has a label: no labels fit the token ids");
  EXPECT_EQ(verdict_of({}).status, Status::kNotEvaluated);
  const TempDir directory;
  testing::write_trace(directory.path());
  testing::CaptureJob job(directory.path(), 0);
  job.tensor("input_ids", "embed", 0, testing::Dtype::kInt64, {4}, testing::bytes_of(Ids{1, 2, 3, 4}));
  job.finish();
  EXPECT_EQ(testing::verdict_of(check_data, directory).status, Status::kInconclusive);
}

}  // namespace
}  // namespace plumbline::checks
