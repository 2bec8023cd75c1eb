#include "checks/mismatch_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checks/call_sequence.hpp"
#include "checks/mismatch.hpp"
#include "checks/testing/fake_world.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using testing::call;
using testing::CallDetails;
using testing::Dtype;
using testing::FakeRank;
using testing::mentions;
using testing::Op;
using testing::ReduceOp;

// The only finding over ranks of one group whose traces `act` writes.
Finding finding_of(int ranks, const testing::RankActs& act) {
  const reader::testing::TempDir directory;
  testing::write_ranks(directory.path(), ranks, act);
  const Verdict verdict = testing::verdict_of(check_mismatch, directory);
  EXPECT_EQ(verdict.findings.size(), 1U);
  return verdict.findings.empty() ? Finding() : verdict.findings.front();
}

TEST(MismatchWordsTest, ARootIsToldAsAGlobalRank) {
  const Finding finding = finding_of(3, [](int number, FakeRank& rank, std::uint64_t world) {
    call(rank, 10, world, Op::kBroadcast, {.peer = number == 2 ? 1 : 0});
  });
  EXPECT_NE(finding.title.find("ranks 0,1 called broadcast #0"), std::string::npos) << finding.title;
  EXPECT_NE(finding.title.find("with root 1"), std::string::npos) << finding.title;
  EXPECT_EQ(finding.next, "make the root the same on all ranks: look at rank 2");
}

TEST(MismatchWordsTest, WhatToDoNextFollowsFromWhatDiffers) {
  const auto next_of = [](const CallDetails& usual, const CallDetails& other) {
    return finding_of(3,
                      [&](int number, FakeRank& rank, std::uint64_t world) {
                        call(rank, 10, world, Op::kAllReduce, number == 1 ? other : usual);
                      })
        .next;
  };
  EXPECT_EQ(next_of({.reduce = ReduceOp::kSum}, {.reduce = ReduceOp::kMax}),
            "make the reduction the same on all ranks: look at rank 1");
  EXPECT_EQ(next_of({.dtype = Dtype::kFloat32}, {.dtype = Dtype::kBfloat16}),
            "make the element type the same on all ranks: look at rank 1");
  EXPECT_TRUE(next_of({.count = 10}, {.count = 12}).starts_with("print on each rank what is sent there"));
  EXPECT_EQ(next_of({.count = 10, .site = "t.py:1 in f"}, {.count = 12, .site = "t.py:9 in g"}),
            "find why rank 1 came to another line: fewer batches than the others, or a condition that differs by rank");
}

TEST(MismatchWordsTest, AnotherOperationIsLookedForOnThePath) {
  const Finding finding = finding_of(3, [](int number, FakeRank& rank, std::uint64_t world) {
    call(rank, 10, world, number == 1 ? Op::kBarrier : Op::kAllReduce);
  });
  EXPECT_NE(finding.next.find("TORCH_DISTRIBUTED_DEBUG=DETAIL"), std::string::npos) << finding.next;
  EXPECT_EQ(finding.descent.component, "group default_pg (ranks 0-2), backend gloo");
}

TEST(MismatchWordsTest, ACallTooManyAndOneTooFewAreToldApart) {
  const auto title_of = [](bool extra) {
    return finding_of(3,
                      [&](int number, FakeRank& rank, std::uint64_t world) {
                        for (int step = 0; step < 6; ++step) {
                          const double ms = 100.0 * step;
                          call(rank, ms, world, Op::kAllReduce, {.count = 360});
                          const bool slips = number == 1 && step == 3;
                          if (!slips || extra) call(rank, ms + 10, world, Op::kAllReduce, {.count = 1});
                          if (slips && extra) call(rank, ms + 20, world, Op::kAllReduce, {.count = 1});
                        }
                      })
        .title;
  };
  EXPECT_TRUE(title_of(true).ends_with("; rank 1 made a call that the others did not")) << title_of(true);
  EXPECT_TRUE(title_of(false).ends_with("; rank 1 left out a call")) << title_of(false);
}

TEST(MismatchWordsTest, WhatFollowsIsCounted) {
  const Finding finding = finding_of(3, [](int number, FakeRank& rank, std::uint64_t world) {
    for (int index = 0; index < 700; ++index)
      call(rank, 10.0 * index, world, Op::kAllReduce, {.count = index >= 100 && number == 1 ? 7U : 8U});
  });
  EXPECT_TRUE(mentions(finding.details, "of the calls after it differ too, and so do 2 later stretches of 256"));
}

TEST(MismatchWordsTest, LinesAreToldOfThoseThatAreKnown) {
  const reader::testing::TempDir directory;
  FakeRank rank(directory.path(), 0, 1);
  const auto world = rank.group("0", "default_pg", "0");
  call(rank, 10, world, Op::kAllReduce, {.site = "t.py:3 in f"});
  call(rank, 20, world, Op::kAllReduce);
  rank.exit(0);
  const reader::Run run = reader::testing::open_run(directory.path());
  const Subject subject(run);
  const reader::GroupLedger* ledger = subject.summaries()[0].ledger.group(world);
  ASSERT_NE(ledger, nullptr);
  std::vector<Caller> callers;
  for (const auto& [number, one] : read_block(run.traces()[0], world, ledger->collectives, 0))
    callers.push_back({0, 0, with_marks(run.traces()[0], one)});
  ASSERT_EQ(callers.size(), 2U);
  EXPECT_EQ(lines_text(subject, callers), "rank 0 called at t.py:3 in f");
  EXPECT_EQ(lines_text(subject, {callers[1]}), "");
  EXPECT_TRUE(caller_line(subject, callers[0])
                  .starts_with("rank 0 called all_reduce #0, sum of float32[1000] at t.py:3 in f, 0.010 s"))
      << caller_line(subject, callers[0]);
  EXPECT_EQ(evidence_of(subject, callers[1]).time_ns, 20'000'000U);
}

}  // namespace
}  // namespace plumbline::checks
