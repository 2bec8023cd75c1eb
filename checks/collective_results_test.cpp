#include "checks/collective_results.hpp"

#include <gtest/gtest.h>

#include "checks/testing/collective_job.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::CollectiveJob;
using testing::Content;
using testing::floats;
using testing::hashed;
using testing::Op;
using testing::ReduceOp;

class CollectiveResults : public ::testing::Test {
 protected:
  Verdict check() {
    job.finish();
    const reader::Run run = open_run(directory.path());
    const Subject subject(run);
    return check_collective_results(subject);
  }

  // One all-reduce of two ranks, with what each got.
  void all_reduce(const Content& first, const Content& second, ReduceOp reduce = ReduceOp::kSum) {
    const auto call = job.call(Op::kAllReduce, reduce);
    job.put(call, 0, "in", floats({1, 2, 3}));
    job.put(call, 1, "in", floats({10, 20, 30.5}));
    job.put(call, 0, "out", first);
    job.put(call, 1, "out", second);
  }

  TempDir directory;
  CollectiveJob job{directory.path(), 2};
};

const Content kRight = floats({11, 22, 33.5});

TEST_F(CollectiveResults, RightSumsPass) {
  all_reduce(kRight, kRight);
  const Verdict verdict = check();
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.reason;
  EXPECT_NE(verdict.reason.find("1 captured call"), std::string::npos);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST_F(CollectiveResults, AWrongElementIsToldWithItsRankAndLine) {
  all_reduce(kRight, floats({11, 22.001F, 33.5}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1u);
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.title,
            "step 0, all_reduce sum #0 of default_pg (ranks 0,1): what rank 1 got is not the sum of what the ranks "
            "gave, in 1 of 3 elements looked at");
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  ASSERT_EQ(finding.details.size(), 3u);
  EXPECT_EQ(finding.details[0], "element 1: rank 0 gave 2, rank 1 gave 20");
  EXPECT_NE(finding.details[1].find("rank 1 got 22.0009995, expected 22 within"), std::string::npos);
  EXPECT_EQ(finding.details[2], "called at train.py:12 in step");
  EXPECT_EQ(finding.place.seq, 0);
  EXPECT_FALSE(finding.evidence.empty());
}

TEST_F(CollectiveResults, TheCauseIsNamedWhereOneExplainsEverything) {
  all_reduce(floats({10, 20, 30.5}), floats({10, 20, 30.5}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(verdict.findings[0].title.find("is the maximum of what the ranks gave"), std::string::npos);
  EXPECT_EQ(verdict.findings[0].ranks, (std::vector<std::int32_t>{0, 1}));
}

TEST_F(CollectiveResults, WhatTheJobWroteToIsNoFaultOfTheCollective) {
  Content changed = floats({0, 0, 0});
  changed.more = R"(,"changed":true)";
  all_reduce(kRight, changed);
  const Verdict verdict = check();
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].status, Status::kInconclusive);
}

TEST_F(CollectiveResults, HashesTellOfElementsThatWereNotLookedAt) {
  Content first = kRight;
  first.hashes = {1};
  Content second = kRight;
  second.hashes = {2};
  all_reduce(first, second);
  const Verdict verdict = check();
  ASSERT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(verdict.findings[0].title.find("differs from rank to rank"), std::string::npos);
}

TEST_F(CollectiveResults, BlocksAreComparedByTheirHashes) {
  const auto call = job.call(Op::kAllGatherBase);
  job.put(call, 0, "in", hashed({5}));
  job.put(call, 1, "in", hashed({6}));
  job.put(call, 0, "out", hashed({5, 6}));
  job.put(call, 1, "out", hashed({6, 5}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(verdict.findings[0].title.find("what rank 1 got as block 0, of rank 0, is what rank 1 gave"),
            std::string::npos)
      << verdict.findings[0].title;
}

// Gloo's scatter reads so, silently.
TEST_F(CollectiveResults, AnInputThatIsNotContiguousIsNamed) {
  const auto call = job.call(Op::kScatter, ReduceOp::kNone, 0);
  Content given = hashed({5, 6});
  given.more = R"(,"strided":true)";
  job.put(call, 0, "in", given);
  job.put(call, 1, "out", hashed({7}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(
      verdict.findings[0].details.at(0).find("rank 0 gave a tensor whose elements do not lie one after the other"),
      std::string::npos);
  EXPECT_EQ(verdict.findings[0].next, "give the collective tensor.contiguous()");
}

TEST_F(CollectiveResults, OfMessagesThatAreReceivedIntoOnePlaceNothingIsSaid) {
  const auto message = job.message();
  job.put(message, 0, "in", hashed({7}));
  Content later = hashed({5});
  later.more = R"(,"shared":true)";
  job.put(message, 1, "out", later);
  EXPECT_TRUE(check().findings.empty());
}

TEST_F(CollectiveResults, MessagesAreMatched) {
  const auto right = job.message();
  job.put(right, 0, "in", hashed({5}));
  job.put(right, 1, "out", hashed({5}));
  const auto wrong = job.message();
  job.put(wrong, 0, "in", hashed({7}));
  job.put(wrong, 1, "out", hashed({5}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
  EXPECT_NE(verdict.findings[0].title.find("#1"), std::string::npos);
}

TEST_F(CollectiveResults, ARankWithoutCapturesIsNoPass) {
  const auto call = job.call(Op::kAllReduce, ReduceOp::kSum);
  job.put(call, 0, "in", floats({1}));
  job.put(call, 0, "out", floats({5}));
  const Verdict verdict = check();
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_EQ(verdict.reason, "none of 1 captured calls could be judged");
  EXPECT_EQ(verdict.unknown.size(), 2u);
}

TEST_F(CollectiveResults, ScaledPartsWithoutTheirFactorAreNotEvaluated) {
  all_reduce(floats({9, 9, 9}), floats({9, 9, 9}), ReduceOp::kPremulSum);
  const Verdict verdict = check();
  EXPECT_EQ(verdict.status, Status::kNotEvaluated);
  EXPECT_EQ(verdict.reason, "all captured calls sum scaled parts, and their factor was not recorded");
  EXPECT_EQ(verdict.unknown.size(), 1u);
}

TEST_F(CollectiveResults, ScaledPartsAreSummed) {
  const auto scaled = [&](const std::vector<float>& left) {
    const auto call = job.call(Op::kAllReduce, ReduceOp::kPremulSum);
    for (int rank = 0; rank < 2; ++rank) {
      Content given = floats(rank == 0 ? std::vector<float>{1, 2, 3} : std::vector<float>{10, 20, 96});
      Content got = floats(left);
      given.more = got.more = R"(,"factor":0.5)";
      job.put(call, rank, "in", given);
      job.put(call, rank, "out", got);
    }
  };
  scaled({5.5F, 11, 49.5F});
  scaled({11, 22, 99});
  const Verdict verdict = check();
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_NE(verdict.findings[0].title.find("is the sum of what the ranks gave, without their factors"),
            std::string::npos)
      << verdict.findings[0].title;
}

TEST(CollectiveResultsOfDevices, NeedADiagnosis) {
  const reader::testing::TempDir directory;
  CollectiveJob job(directory.path(), 2, "nccl");
  job.call(Op::kAllReduce, ReduceOp::kSum);
  job.finish();
  const Verdict verdict = testing::verdict_of(check_collective_results, directory);
  EXPECT_EQ(verdict.status, Status::kNotEvaluated);
  EXPECT_EQ(verdict.reason, "no collective was captured: those of nccl are looked at in a diagnosis alone");
}

TEST_F(CollectiveResults, WithoutCapturesNothingIsEvaluated) {
  job.call(Op::kAllReduce, ReduceOp::kSum);
  EXPECT_EQ(check().status, Status::kNotEvaluated);
}

TEST_F(CollectiveResults, WrongWordsInACaptureAreLeftOut) {
  const auto call = job.call(Op::kAllReduce, ReduceOp::kSum);
  Content strange = floats({1});
  strange.more = R"(,"seq":-4)";  // the last one counts
  job.put(call, 0, "in", strange);
  EXPECT_EQ(check().status, Status::kNotEvaluated);
}

TEST_F(CollectiveResults, FindingsOfOneKindAreOne) {
  for (int i = 0; i < 3; ++i) all_reduce(kRight, floats({11, 22, 99}));
  const Verdict verdict = check();
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].details.back(), "in 3 captured calls, from step 0 to step 0");
}

}  // namespace
}  // namespace plumbline::checks
