#include "checks/straggler_lateness.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;

struct Loss {
  int rank;
  double lost_ms;
  bool operator==(const Loss&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Loss& loss) { return out << loss.rank << ": " << loss.lost_ms; }

// The waits of a run, in order.
std::vector<Loss> losses_of(const TempDir& directory) {
  const reader::Run run = open_run(directory.path());
  const Subject subject(run);
  const StepClock steps;
  std::vector<Loss> losses;
  LatenessTracker tracker(subject, steps, [&](const Lateness& late) {
    const double lost = static_cast<double>(late.lost) / 1e6;
    if (late.lost > 0) losses.push_back({run.traces()[late.late].rank(), lost});
  });
  reader::match_collectives(run, {}, [&](const reader::MatchedCollective& match) {
    tracker.add(match);
    return true;
  });
  tracker.finish();
  return losses;
}

TEST(LatenessTest, TheLastToComeIsLate) {
  const TempDir directory;
  for (int number = 0; number < 3; ++number) {
    FakeRank rank(directory.path(), number, 3);
    const auto world = rank.group("0", "default_pg", "0,1,2");
    rank.whole_call(number == 1 ? 50 : 10, 51, world, Op::kAllReduce);
    rank.exit(0);
  }
  EXPECT_EQ(losses_of(directory), (std::vector<Loss>{{1, 40}}));
}

TEST(LatenessTest, RanksThatAreKeptWaitingPassNoBlameOn) {
  // Ranks 0,1 and 2,3 are pairs that compute together, 0,2 and 1,3 average gradients. Rank 1 is slow.
  const TempDir directory;
  const double first[] = {10, 60, 10, 10};
  for (int number = 0; number < 4; ++number) {
    FakeRank rank(directory.path(), number, 4);
    const bool front = number < 2;
    const auto pair = rank.group("pair", front ? "0,1" : "2,3", front ? "0,1" : "2,3", number % 2);
    const auto across =
        rank.group("across", number % 2 == 0 ? "0,2" : "1,3", number % 2 == 0 ? "0,2" : "1,3", number / 2);
    const double through = front ? 61 : 11;
    rank.whole_call(first[number], through, pair, Op::kAllReduce);
    rank.whole_call(through + 10, 72, across, Op::kAllReduce);
    rank.exit(0);
  }
  EXPECT_EQ(losses_of(directory), (std::vector<Loss>{{1, 50}}));
}

TEST(LatenessTest, CallsThatWaitTogetherAreOneWait) {
  const TempDir directory;
  for (int number = 0; number < 2; ++number) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    const double late = number == 1 ? 100 : 0;
    const auto a = rank.call(10 + late, world, Op::kAllReduce);
    const auto b = rank.call(20 + late, world, Op::kAllReduce);
    rank.end(111, a);
    rank.end(121, b);
    rank.exit(0);
  }
  EXPECT_EQ(losses_of(directory), (std::vector<Loss>{{1, 100}, {1, 10}}));
}

TEST(LatenessTest, ARankThatWorksOnDoesNotWait) {
  const TempDir directory;
  for (int number = 0; number < 2; ++number) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    const auto call = rank.call(number == 0 ? 10 : 60, world, Op::kAllReduce);
    if (number == 0) rank.wait(55, call);
    rank.end(61, call);
    rank.exit(0);
  }
  EXPECT_EQ(losses_of(directory), (std::vector<Loss>{{1, 5}}));
}

// Two pipelines of two stages; the second stage has twice the work. Stages 0 and 1 of both average gradients.
void pipelines(const TempDir& directory, double slow_ms) {
  for (int number = 0; number < 4; ++number) {
    FakeRank rank(directory.path(), number, 4);
    const bool second_stage = number % 2 == 1;
    const auto world = rank.group("0", "default_pg", "0,1,2,3");
    for (int step = 0; step < 10; ++step) {
      const double begin = 1000.0 * step;
      const double late = number >= 2 ? slow_ms : 0;
      if (!second_stage) {
        rank.whole_call(begin + 50 + late, begin + 51 + late, world, Op::kSend, {.peer = number + 1});
        rank.whole_call(begin + 60 + late, begin + 301 + slow_ms, world, Op::kAllReduce);
      } else {
        rank.whole_call(begin + 1, begin + 51 + late, world, Op::kRecv, {.peer = number - 1});
        rank.whole_call(begin + 300 + late, begin + 301 + slow_ms, world, Op::kAllReduce);
      }
    }
    rank.exit(0);
  }
}

TEST(LatenessTest, StagesOfAPipelineAreNotComparedWithEachOther) {
  const TempDir directory;
  pipelines(directory, 0);
  const std::vector<Loss> losses = losses_of(directory);
  // Until it has shown to be a pipeline.
  EXPECT_LE(losses.size(), 4U);
}

TEST(LatenessTest, PipelinesAreComparedWithEachOther) {
  const TempDir directory;
  pipelines(directory, 80);
  const std::vector<Loss> losses = losses_of(directory);
  ASSERT_FALSE(losses.empty());
  EXPECT_EQ(losses.back().rank, 3);
}

TEST(LatenessTest, WhatAnotherCallMadeInsideIsNotCountedAgain) {
  const TempDir directory;
  for (int number = 0; number < 2; ++number) {
    FakeRank rank(directory.path(), number, 2);
    const auto world = rank.group("0", "default_pg", "0,1");
    const auto outer = rank.call(number == 0 ? 10 : 60, world, Op::kReduceScatter);
    rank.whole_call(number == 0 ? 10 : 60, 61, world, Op::kAllReduce, {.parent = outer});
    rank.end(61, outer);
    rank.exit(0);
  }
  EXPECT_EQ(losses_of(directory), (std::vector<Loss>{{1, 50}}));
}

TEST(LatenessTest, LessThanTheClocksCanShowIsNoEvidence) {
  // The only common call takes 100 ms on both hosts: the clocks are known to 50 ms.
  const TempDir directory;
  for (int number = 0; number < 2; ++number) {
    testing::RankOptions options;
    options.host = number == 0 ? "node1" : "node2";
    options.boot_id = number == 0 ? "a" : "b";
    FakeRank rank(directory.path(), number, 2, options);
    const auto world = rank.group("0", "default_pg", "0,1");
    for (int step = 0; step < 5; ++step)
      rank.whole_call(1000 * step + 10 + number, 1000 * step + 110, world, Op::kAllReduce);
    rank.exit(0);
  }
  EXPECT_TRUE(losses_of(directory).empty());
}

}  // namespace
}  // namespace plumbline::checks
