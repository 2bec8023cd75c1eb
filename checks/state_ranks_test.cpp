#include "checks/state_ranks.hpp"

#include <gtest/gtest.h>

namespace plumbline::checks {
namespace {

RankVerdict rank(int number, Status status, const std::string& title = "") {
  RankVerdict one{number, {"load", status, title.empty() ? "all is equal" : title, {}, {}}};
  if (!title.empty()) {
    one.verdict.findings.emplace_back();
    one.verdict.findings.back().status = status;
    one.verdict.findings.back().title = title;
  }
  return one;
}

TEST(StateRanksTest, AllPass) {
  const Verdict verdict = over_ranks("load", {rank(0, Status::kPass), rank(1, Status::kPass)});
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.reason, "all is equal on each of 2 ranks");
}

TEST(StateRanksTest, WhatRanksShareIsToldOnceWithTheRanks) {
  const Verdict verdict = over_ranks("load", {rank(0, Status::kPass), rank(1, Status::kFail, "w is transposed"),
                                              rank(3, Status::kFail, "w is transposed")});
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(verdict.reason, "ranks 1,3: w is transposed");
}

TEST(StateRanksTest, AStateOfAllRanksNamesNone) {
  EXPECT_EQ(over_ranks("load", {rank(-1, Status::kFail, "w is NaN")}).reason, "w is NaN");
}

TEST(StateRanksTest, FailuresComeFirst) {
  const Verdict verdict = over_ranks("load", {rank(0, Status::kInconclusive, "open"), rank(1, Status::kFail, "wrong")});
  EXPECT_EQ(verdict.reason, "rank 1: wrong");
}

TEST(StateRanksTest, ARankWithoutAnswerIsNoPass) {
  EXPECT_EQ(over_ranks("load", {rank(0, Status::kPass), rank(1, Status::kNotEvaluated)}).status, Status::kInconclusive);
  EXPECT_EQ(over_ranks("load", {rank(0, Status::kNotEvaluated)}).status, Status::kNotEvaluated);
  EXPECT_EQ(over_ranks("load", {}).status, Status::kNotEvaluated);
}

}  // namespace
}  // namespace plumbline::checks
