#include "checks/mismatch.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_world.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::TempDir;
using testing::all_of;
using testing::call;
using testing::CallDetails;
using testing::Dtype;
using testing::FakeRank;
using testing::mentions;
using testing::Op;
using testing::Outcome;
using testing::ReduceOp;

Verdict verdict_of(const TempDir& directory) { return testing::verdict_of(check_mismatch, directory); }

// One trace a rank of a group of all of them, written by `act`, and the verdict over them.
Verdict verdict_of_ranks(int ranks, const testing::RankActs& act) {
  const TempDir directory;
  testing::write_ranks(directory.path(), ranks, act);
  return verdict_of(directory);
}

// A long run of calls that all are alike.
void train(FakeRank& rank, std::uint64_t world, int from, int to) {
  for (int number = from; number < to; ++number) call(rank, 10.0 * number, world, Op::kAllReduce);
}

TEST(MismatchTest, EqualCallsPass) {
  const Verdict verdict = verdict_of_ranks(3, [](int, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 700);
    call(rank, 9000, world, Op::kBarrier);
  });
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(MismatchTest, OneRankAloneIsNoComparison) {
  EXPECT_EQ(verdict_of_ranks(1, [](int, FakeRank& rank, std::uint64_t world) { train(rank, world, 1, 5); }).status,
            Status::kNotEvaluated);
}

// Runs to its end on gloo without a word, and gives each rank something else.
TEST(MismatchTest, SumAgainstMaximumIsAFailureAlthoughTheJobWentOn) {
  const Verdict verdict = verdict_of_ranks(3, [](int number, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 300);
    call(rank, 5000, world, Op::kAllReduce,
         {.count = 8, .reduce = number == 1 ? ReduceOp::kMax : ReduceOp::kSum, .site = "train.py:12 in main"});
    train(rank, world, 600, 900);
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings[0];
  EXPECT_EQ(finding.title,
            "different calls as #299 of default_pg (ranks 0-2): ranks 0,2 called all_reduce #299, sum of float32[8], "
            "rank 1 called all_reduce #299, max of float32[8]");
  EXPECT_EQ(finding.ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(finding.place.seq, 299);
  EXPECT_EQ(finding.descent.line, "rank 0 called at train.py:12 in main; rank 1 called at train.py:12 in main");
  EXPECT_TRUE(mentions(finding.details, "it finished without an error")) << all_of(finding);
  EXPECT_TRUE(mentions(finding.details, "what it gave the ranks on which it finished is wrong")) << all_of(finding);
  EXPECT_FALSE(mentions(finding.details, "differ too")) << all_of(finding);
}

TEST(MismatchTest, SizesThatDifferAreCounted) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    rank.call(10, world, Op::kAllReduce, {.count = number == 0 ? 360U : 72U});
  });
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "different calls as #0 of default_pg (ranks 0,1): rank 0 called all_reduce #0, sum of float32[360], rank 1 "
            "called all_reduce #0, sum of float32[72] (288 elements apart)");
  EXPECT_EQ(verdict.findings[0].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(mentions(verdict.findings[0].details, "it never ended"));
}

// Of two ranks neither is in the majority: the one that did otherwise than in the steps before is named.
TEST(MismatchTest, OfTwoRanksTheOneThatLeftItsPathIsNamed) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 6; ++step) {
      const double ms = 100.0 * step;
      call(rank, ms, world, Op::kAllReduce, {.count = number == 0 && step == 4 ? 72U : 360U, .site = "t.py:1 in f"});
      call(rank, ms + 10, world, Op::kAllReduce, {.count = 1, .site = "t.py:2 in f"});
    }
  });
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{0});
  EXPECT_TRUE(mentions(verdict.findings[0].details, "rank 0 left the path of the steps before"))
      << all_of(verdict.findings[0]);
}

TEST(MismatchTest, TypesAndRoots) {
  const auto one = [](const CallDetails& zeroth, const CallDetails& first, Op op) {
    return verdict_of_ranks(2, [&](int number, FakeRank& rank,
                                   std::uint64_t world) { call(rank, 10, world, op, number == 0 ? zeroth : first); })
        .findings.at(0)
        .descent.operation;
  };
  EXPECT_EQ(one({.dtype = Dtype::kFloat32}, {.dtype = Dtype::kBfloat16}, Op::kAllReduce),
            "all_reduce #0: the element type differs");
  EXPECT_EQ(one({.peer = 0}, {.peer = 1}, Op::kBroadcast), "broadcast #0: the root differs");
}

TEST(MismatchTest, SwappedCallsOfDifferentSizes) {
  const Verdict verdict = verdict_of_ranks(3, [](int number, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 4);
    const std::uint64_t first = number == 2 ? 20 : 10;
    call(rank, 50, world, Op::kAllReduce, {.count = first});
    call(rank, 60, world, Op::kAllReduce, {.count = 30 - first});
    train(rank, world, 7, 20);
  });
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_NE(verdict.findings[0].title.find("rank 2 made two calls in the other order"), std::string::npos)
      << verdict.findings[0].title;
}

// Nothing but the lines tells that the results went to the wrong places.
TEST(MismatchTest, SwappedCallsOfOneSizeWithinAStep) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 4; ++step) {
      const double ms = 100.0 * step + 10;
      const bool swapped = step == 2 && number == 1;
      call(rank, ms, world, Op::kAllReduce, {.site = swapped ? "t.py:2 in f" : "t.py:1 in f"});
      call(rank, ms + 10, world, Op::kAllReduce, {.site = swapped ? "t.py:1 in f" : "t.py:2 in f"});
      rank.step(ms + 30, ms + 40);
    }
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "different lines called all_reduce #4 of default_pg (ranks 0,1): rank 0 from t.py:1 in f, rank 1 from "
            "t.py:2 in f; rank 1 made two calls in the other order");
}

// A branch for a rank's role: no rank comes by the other one's line.
TEST(MismatchTest, LinesOfABranchForARoleAreLegal) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 300; ++step) {
      call(rank, 10.0 * step, world, Op::kAllReduce, {.site = number == 0 ? "t.py:1 in f" : "t.py:3 in f"});
    }
  });
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.findings.at(0).title;
}

// Two calls that were swapped by another piece of code: that the rank is off its usual path is all that shows.
TEST(MismatchTest, ALineThatARankDoesNotTakeOtherwiseIsAskedAbout) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 6; ++step) {
      const bool swapped = step == 4 && number == 1;
      call(rank, 100.0 * step, world, Op::kAllReduce, {.count = 360, .site = "t.py:1 in f"});
      call(rank, 100.0 * step + 10, world, Op::kAllReduce, {.site = swapped ? "t.py:7 in f" : "t.py:2 in f"});
      call(rank, 100.0 * step + 20, world, Op::kAllReduce, {.site = swapped ? "t.py:8 in f" : "t.py:3 in f"});
    }
  });
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].ranks, std::vector<std::int32_t>{1});
  EXPECT_EQ(verdict.findings[0].place.seq, 13);
}

TEST(MismatchTest, TakingTurnsInARoleIsNoCertainFault) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 8; ++step) {
      call(rank, 100.0 * step, world, Op::kAllReduce, {.site = step % 2 == number ? "t.py:1 in f" : "t.py:3 in f"});
      rank.step(100.0 * step + 10, 100.0 * step + 20);
    }
  });
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(mentions(verdict.findings[0].unknown, "take turns in a role"));
}

// Rank 1 leaves out the second all-reduce of a step once: all that follow go to the wrong places.
TEST(MismatchTest, ACallThatWasLeftOutIsSeenByItsLines) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int step = 0; step < 10; ++step) {
      const double ms = 100.0 * step;
      call(rank, ms, world, Op::kAllReduce, {.site = "t.py:1 in f"});
      if (step != 3 || number == 0) call(rank, ms + 10, world, Op::kAllReduce, {.site = "t.py:2 in f"});
      call(rank, ms + 20, world, Op::kAllReduce, {.site = "t.py:3 in f"});
    }
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].place.seq, 10);
  EXPECT_TRUE(mentions(verdict.findings[0].details, "of the calls after it differ too")) << all_of(verdict.findings[0]);
}

// A pipeline of uneven experts: counts differ on every rank, and add up.
TEST(MismatchTest, UnevenExchangesThatAddUpAreLegal) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    const bool zero = number == 0;
    call(rank, 10, world, Op::kAllToAllBase,
         {.count = zero ? 12U : 20U, .count_out = zero ? 18 : 14, .splits = zero ? 1U : 2U});
    call(rank, 20, world, Op::kAllToAllBase,
         {.count = zero ? 8U : 6U, .count_out = zero ? 8 : 6, .splits = zero ? 0U : 9U});
    call(rank, 30, world, Op::kAllGather, {.count = zero ? 5U : 4U, .count_out = 9});
    call(rank, 40, world, Op::kReduceScatter, {.count = 9, .count_out = zero ? 5 : 4});
    call(rank, 50, world, Op::kGather, {.count = 5, .peer = 0, .count_out = zero ? 10 : 0});
    call(rank, 60, world, Op::kScatter, {.count = zero ? 10U : 0U, .peer = 0, .count_out = 5});
    call(rank, 70, world, Op::kBroadcast, {.count = zero ? 10U : 0U, .peer = 0, .count_out = zero ? 0 : 10});
  });
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.findings.at(0).title;
}

// Other programs' files do not say how an all-to-all was split.
TEST(MismatchTest, SizesOfAnImportedExchangeAreFree) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    rank.trace().fact("source.format", "PyTorch flight recorder");
    call(rank, 10, world, Op::kAllToAllBase, {.count = number == 0 ? 12U : 20U, .count_out = number == 0 ? 18 : 14});
  });
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.findings.at(0).title;
}

TEST(MismatchTest, ExchangesThatDoNotAddUp) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 3);
    call(rank, 50, world, Op::kAllToAllBase,
         {.count = 10, .count_out = number == 0 ? 12 : 7, .splits = number == 0 ? 1U : 2U});
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "the parts of all_to_all_base #2 of default_pg (ranks 0,1) do not add up: its ranks give 20 elements and "
            "take 19");
}

TEST(MismatchTest, AMessageThatIsReceivedIntoAnotherType) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int index = 0; index < 5; ++index) {
      const Dtype dtype = index == 3 && number == 1 ? Dtype::kInt32 : Dtype::kFloat32;
      call(rank, 10.0 * index, world, number == 0 ? Op::kSend : Op::kRecv,
           {.dtype = dtype, .peer = 1 - number, .tag = 4});
    }
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_NE(verdict.findings[0].title.find("message #3 from rank 0 to rank 1 in default_pg: sent as"),
            std::string::npos)
      << verdict.findings[0].title;
  EXPECT_TRUE(mentions(verdict.findings[0].details, "what rank 1 received is not what was sent"));
}

TEST(MismatchTest, MessagesThatFitPass) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int index = 0; index < 300; ++index) {
      call(rank, 10.0 * index, world, (index + number) % 2 == 0 ? Op::kSend : Op::kRecv,
           {.count = 100U + static_cast<unsigned>(index), .peer = 1 - number});
    }
  });
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.findings.at(0).title;
}

TEST(MismatchTest, ABroadcastThatOthersFinishedWithoutARankIsStillAFinding) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 4);
    if (number == 0) call(rank, 50, world, Op::kBroadcast, {.peer = 0});
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "rank 1 never joined broadcast #3 of default_pg (ranks 0,1); rank 0 finished without it");
}

TEST(MismatchTest, ADroppedCallIsNoCertainAbsence) {
  const Verdict verdict = verdict_of_ranks(2, [](int number, FakeRank& rank, std::uint64_t world) {
    train(rank, world, 1, 4);
    if (number == 0) call(rank, 50, world, Op::kBroadcast, {.peer = 0});
    if (number == 1) rank.trace().drop(recorder::Kind::kCollective, 1);
  });
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_TRUE(mentions(verdict.findings[0].unknown, "whether rank 1 made the call")) << all_of(verdict.findings[0]);
}

TEST(MismatchTest, MembersThatDisagreeOnTheirGroup) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    if (number != 2) rank.group("7", "tensor", number == 0 ? "0,1" : "0,1,2");
    rank.whole_call(1, 2, rank.group("0", "default_pg", "0,1,2"), Op::kBarrier);
    rank.exit(0);
  }
  const Verdict verdict = verdict_of(directory);
  EXPECT_EQ(verdict.status, Status::kFail);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].title,
            "ranks disagree on who is in group tensor: ranks 0,1 on rank 0, ranks 0-2 on rank 1");
}

// Without the adapter only the operation is known of a call.
TEST(MismatchTest, CallsThatAreNotDescribedAreComparedByTheirOperation) {
  const auto verdict_with = [](Op op) {
    return verdict_of_ranks(2, [&](int number, FakeRank& rank, std::uint64_t world) {
      const bool blind = number == 1;
      call(rank, 10, world, blind ? op : Op::kAllReduce,
           {.count = blind ? 0U : 8U, .dtype = blind ? Dtype::kUnknown : Dtype::kFloat32});
    });
  };
  EXPECT_EQ(verdict_with(Op::kAllReduce).status, Status::kPass);
  EXPECT_EQ(verdict_with(Op::kAllReduce).unknown.size(), 1U);
  EXPECT_EQ(verdict_with(Op::kAllGather).status, Status::kFail);
}

// A rank that is some calls behind is not a different one.
TEST(MismatchTest, ARankThatIsBehindIsComparedUpToWhereItIs) {
  for (const int behind : {1, 20, 100, 400}) {
    const Verdict verdict = verdict_of_ranks(2, [&](int number, FakeRank& rank, std::uint64_t world) {
      train(rank, world, 1, number == 0 ? 600 : 600 - behind);
      if (number == 1) rank.call(9999, world, Op::kAllReduce);
    });
    for (const Finding& finding : verdict.findings) {
      EXPECT_EQ(finding.title.find("different calls"), std::string::npos) << finding.title;
    }
  }
}

}  // namespace
}  // namespace plumbline::checks
