#include "checks/straggler_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checks/straggler.hpp"
#include "checks/testing/fake_training.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks {
namespace {

using testing::FakeRank;
using testing::FakeTraining;

Finding finding_of(const FakeTraining& job) {
  const reader::testing::TempDir directory;
  job.write(directory.path());
  const Verdict verdict = testing::verdict_of(check_straggler, directory);
  EXPECT_FALSE(verdict.findings.empty()) << verdict.reason;
  return verdict.findings.empty() ? Finding() : verdict.findings.front();
}

FakeTraining with_slow_rank() {
  FakeTraining job{.ranks = 3};
  job.delay = [](int rank, int) { return rank == 1 ? 250.0 : 0.0; };
  return job;
}

TEST(StragglerWordsTest, WhatToDoNextFollowsFromWhatTheRankDid) {
  FakeTraining job = with_slow_rank();
  EXPECT_EQ(finding_of(job).next, "py-spy dump of rank 1 during such a pause");
  job.during = [](FakeRank& rank, int, double from, double to) {
    rank.range(from, to, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  };
  EXPECT_EQ(finding_of(job).next, "time next(loader) on rank 1 alone; more workers or prefetching would hide it");
  job.during = [](FakeRank& rank, int, double from, double to) {
    rank.range(from, to, "tokenize");
    for (double at = from; at < to; at += 5) rank.alloc(at, 0x100000 + static_cast<std::uint64_t>(at), 64);
  };
  EXPECT_EQ(finding_of(job).next,
            "run the same step on rank 1 and on another rank's device without collectives, and compare times");
}

TEST(StragglerWordsTest, PlacesAreToldByTheirLoss) {
  const Finding finding = finding_of(with_slow_rank());
  const auto place = std::find_if(finding.details.begin(), finding.details.end(),
                                  [](const std::string& line) { return line.starts_with("late to "); });
  ASSERT_NE(place, finding.details.end());
  EXPECT_TRUE(place->starts_with("late to all_reduce in default_pg (ranks 0-2), called at jobs/train.py:41 in main: "))
      << *place;
  EXPECT_EQ(finding.descent.rank, finding.title);
  EXPECT_TRUE(finding.descent.run.starts_with("lost ")) << finding.descent.run;
}

TEST(StragglerWordsTest, ARankThatAlwaysCarriesMoreIsToldSo) {
  FakeTraining job = with_slow_rank();
  job.elements = [](int rank, int) { return std::uint64_t{rank == 1 ? 3000U : 1000U}; };
  const Finding finding = finding_of(job);
  EXPECT_EQ(finding.details.front(), "always the same: it also carries 200 % more elements than the others have");
}

TEST(StragglerWordsTest, WorkIsToBeBalancedAndAHostToBeTriedWithout) {
  FakeTraining work{.ranks = 4, .steps = 60};
  const auto extra = [](int rank, int step) { return rank == step * 7 % 4 ? 10.0 * (step * 3 % 11) : 0.0; };
  work.elements = [&](int rank, int step) { return 1000 + static_cast<std::uint64_t>(10 * extra(rank, step)); };
  work.delay = extra;
  EXPECT_EQ(finding_of(work).next,
            "balance the tokens of a step over the ranks (by length, not by rows), and compare the step time");

  FakeTraining host{.ranks = 4};
  host.options = [](int rank) {
    testing::RankOptions options;
    options.host = rank < 2 ? "node1" : "node2";
    options.boot_id = rank < 2 ? "00000000-0000-0000-0000-000000000001" : "00000000-0000-0000-0000-000000000002";
    return options;
  };
  host.elements = [](int, int) { return std::uint64_t{1000}; };
  host.delay = [](int rank, int step) { return rank >= 2 ? 60.0 + (step + rank) % 2 * 5 : 0.0; };
  EXPECT_EQ(finding_of(host).next, "run the job once without that host, or a compute benchmark on it and on another");
}

TEST(StragglerWordsTest, ASlowdownOfAllIsLookedForInTheJob) {
  FakeTraining job{.steps = 100};
  job.delay = [](int, int step) { return step >= 50 ? 30.0 : 0.0; };
  const Finding finding = finding_of(job);
  EXPECT_TRUE(finding.next.starts_with("compare what the job does from step 5")) << finding.next;
  EXPECT_TRUE(finding.next.ends_with("on: row lengths, logging, checkpoints, clock speed")) << finding.next;
}

TEST(StragglerWordsTest, RanksThatAreSlowByTurnsAreCounted) {
  FakeTraining job{.steps = 70};
  job.delay = [](int rank, int step) { return step % 7 == 0 && rank == step / 7 % 2 ? 300.0 : 0.0; };
  const Finding finding = finding_of(job);
  EXPECT_EQ(finding.details.front(),
            "it moves between ranks: rank 1 in 5 steps, rank 0 in 4 steps; no rank is to blame by itself");
}

}  // namespace
}  // namespace plumbline::checks
