#include "checks/row_ends.hpp"

#include <gtest/gtest.h>

#include "checks/data.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/row_job.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::Ids;
using testing::RowPass;

constexpr std::int64_t kEnd = 2;

// Documents of three tokens to read and two to learn, and what follows them: six in one row, told apart by positions.
struct Documents {
  Ids after = {kEnd};         // behind the learned tokens of each document
  bool learns_after = false;  // the first of these
  std::int64_t last = -1;     // last learned token of each document; -1: another one in each
  bool positions = true;
  bool ahead = false;      // labels stand one place before their token
  std::int64_t begin = 3;  // first token of each document
  std::string detail = R"({"eos":2})";

  RowPass pass() const {
    RowPass made;
    made.detail = detail;
    for (std::int64_t document = 0; document < 7; ++document) {
      const std::int64_t final = last >= 0 ? last : 20 + document;
      Ids tokens = {begin, 4 + document, 5, 10 + document, final};
      Ids labels = {-100, -100, -100, 10 + document, final};
      for (std::size_t i = 0; i < after.size(); ++i) {
        tokens.push_back(after[i]);
        labels.push_back(i == 0 && learns_after ? after[i] : -100);
      }
      made.ids.insert(made.ids.end(), tokens.begin(), tokens.end());
      made.labels.insert(made.labels.end(), labels.begin(), labels.end());
      for (std::size_t i = 0; positions && i < tokens.size(); ++i)
        made.positions.push_back(static_cast<std::int64_t>(i));
    }
    if (ahead) {
      made.labels.erase(made.labels.begin());
      made.labels.push_back(-100);
    }
    return made;
  }
};

Verdict verdict_of(const std::vector<RowPass>& passes) {
  const TempDir directory;
  testing::write_trace(directory.path());
  testing::write_rows(directory.path(), passes);
  return testing::verdict_of(check_data, directory);
}

Verdict verdict_of(const Documents& documents) { return verdict_of({documents.pass()}); }

TEST(RowEndsTest, AnEndThatIsNeverALabel) {
  for (const bool ahead : {false, true}) {
    for (const bool positions : {false, true}) {
      const Verdict verdict = verdict_of(Documents{.positions = positions, .ahead = ahead});
      ASSERT_EQ(verdict.status, Status::kFail) << ahead << positions;
      EXPECT_EQ(verdict.findings.front().title,
                "step 0, rank 0: labels never hold token 2, the model's eos_token_id, though it follows each of 7 "
                "stretches that are learned: their end is not learned");
    }
  }
}

TEST(RowEndsTest, AnEndThatIsLearned) {
  EXPECT_EQ(verdict_of(Documents{.learns_after = true}).status, Status::kPass);
  // The end of a turn is learned, what a template writes behind it is not.
  EXPECT_EQ(verdict_of(Documents{.after = {9}, .last = 8, .detail = R"({"eos":8})"}).status, Status::kPass);
  EXPECT_EQ(verdict_of(Documents{.after = {9, kEnd}, .last = 8}).status, Status::kPass);
}

TEST(RowEndsTest, WithoutSettingsItIsLeftOpen) {
  EXPECT_EQ(verdict_of(Documents{.detail = ""}).status, Status::kInconclusive);
  EXPECT_EQ(verdict_of(Documents{.detail = R"({"eos":[40,41]})"}).status, Status::kInconclusive);
  EXPECT_EQ(verdict_of(Documents{.detail = R"({"eos":[40,2]})"}).status, Status::kFail);
  // What stands elsewhere, too, is rather punctuation.
  EXPECT_EQ(verdict_of(Documents{.begin = kEnd, .detail = ""}).status, Status::kPass);
  // Without documents nothing says that the token ends any.
  EXPECT_EQ(verdict_of(Documents{.positions = false, .detail = ""}).status, Status::kPass);
}

TEST(RowEndsTest, WhatFollowsDiffersOrIsLearnedElsewhere) {
  RowPass other = Documents{.after = {6}}.pass();
  other.micro = 1;
  EXPECT_EQ(verdict_of({Documents{}.pass(), other}).status, Status::kPass);
  RowPass learned = Documents{.learns_after = true}.pass();
  learned.micro = 1;
  EXPECT_EQ(verdict_of({Documents{}.pass(), learned}).status, Status::kPass);
}

TEST(RowEndsTest, PaddingThatIsTheEndIsToldByTheLoss) {
  RowPass padded = Documents{}.pass();
  padded.positions.clear();
  padded.mask.assign(padded.ids.size(), 1);
  padded.mask.back() = 0;
  EXPECT_EQ(verdict_of({padded}).status, Status::kPass);
}

TEST(RowEndsTest, LabelsOfOtherTokensSayNothing) {
  RowPass wrong = Documents{}.pass();
  for (auto& label : wrong.labels) label = label < 0 ? label : label + 1;
  EXPECT_EQ(verdict_of({wrong}).status, Status::kPass);
}

}  // namespace
}  // namespace plumbline::checks
