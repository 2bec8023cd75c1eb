#include "checks/blame.hpp"

#include <gtest/gtest.h>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::Collective;
using reader::Dtype;
using reader::Op;
using reader::ReduceOp;
using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Outcome;

Collective call(Op op, std::uint64_t count = 10) {
  Collective one;
  one.op = op;
  one.dtype = Dtype::kFloat32;
  one.reduce_op = ReduceOp::kSum;
  one.count_in = one.count_out = count;
  return one;
}

TEST(SameCallTest, OperationTypeAndReductionCount) {
  EXPECT_TRUE(same_call(call(Op::kAllReduce), call(Op::kAllReduce)));
  EXPECT_FALSE(same_call(call(Op::kAllReduce), call(Op::kAllGather)));
  Collective half = call(Op::kAllReduce);
  half.dtype = Dtype::kBfloat16;
  EXPECT_FALSE(same_call(call(Op::kAllReduce), half));
  Collective most = call(Op::kAllReduce);
  most.reduce_op = ReduceOp::kMax;
  EXPECT_FALSE(same_call(call(Op::kAllReduce), most));
}

TEST(SameCallTest, SizesCountWhereTheOperationAsksForEqualOnes) {
  EXPECT_FALSE(same_call(call(Op::kAllReduce, 409600), call(Op::kAllReduce, 409598)));
  EXPECT_TRUE(same_call(call(Op::kAllToAllBase, 5), call(Op::kAllToAllBase, 6)));
  EXPECT_TRUE(same_call(call(Op::kGather, 0), call(Op::kGather, 6)));
}

TEST(SameCallTest, RootsCount) {
  Collective zero = call(Op::kBroadcast);
  zero.peer = 0;
  Collective one = call(Op::kBroadcast);
  one.peer = 1;
  EXPECT_FALSE(same_call(zero, one));
}

// What became of call #0 of a group of ranks: a trace a rank, written by `act`.
struct Scene {
  template <class Act>
  Scene(int ranks, const Act& act) {
    std::string members;
    for (int number = 0; number < ranks; ++number) members += (number == 0 ? "" : ",") + std::to_string(number);
    for (int number = 0; number < ranks; ++number) {
      FakeRank rank(directory.path(), number, ranks);
      rank.step(1, 2);
      act(number, rank, rank.group("0", "default_pg", members));
    }
    run.emplace(open_run(directory.path()));
    subject.emplace(*run);
    const auto groups = group_calls(*subject, 0, 0);
    open = first_open_call(*subject, groups.at(0));
  }

  Blame blame() const { return blame_for(*subject, *open); }

  TempDir directory;
  std::optional<reader::Run> run;
  std::optional<Subject> subject;
  std::optional<OpenCall> open;
};

TEST(BlameTest, TheAbsentRankIsToBlame) {
  const Scene scene(3, [](int number, FakeRank& rank, std::uint64_t world) {
    if (number != 2) rank.call(10, world, Op::kAllReduce);
    rank.exit(0);
  });
  EXPECT_EQ(scene.blame().cause, Cause::kNeverJoined);
  EXPECT_EQ(ranks_of(scene.blame().guilty), std::vector<std::int32_t>{2});
}

TEST(BlameTest, TheMajorityIsRight) {
  const Scene scene(4, [](int number, FakeRank& rank, std::uint64_t world) {
    rank.call(10, world, number == 1 ? Op::kBarrier : Op::kAllReduce);
    rank.exit(-1, 15);
  });
  EXPECT_EQ(scene.blame().cause, Cause::kMismatch);
  EXPECT_EQ(ranks_of(scene.blame().guilty), std::vector<std::int32_t>{1});
}

TEST(BlameTest, WithoutAMajorityAllAreNamed) {
  const Scene scene(2, [](int number, FakeRank& rank, std::uint64_t world) {
    rank.call(10, world, number == 1 ? Op::kBarrier : Op::kAllReduce);
    rank.exit(-1, 15);
  });
  EXPECT_EQ(scene.blame().cause, Cause::kMismatch);
  EXPECT_EQ(scene.blame().guilty.size(), 2U);
}

TEST(BlameTest, ACallThatRaisedIsToBlame) {
  const Scene scene(2, [](int number, FakeRank& rank, std::uint64_t world) {
    const auto id = rank.call(10, world, Op::kAllReduce);
    if (number == 1) rank.end(11, id, Outcome::kRaised);
    rank.exit(1);
  });
  EXPECT_EQ(scene.blame().cause, Cause::kRaised);
  EXPECT_EQ(ranks_of(scene.blame().guilty), std::vector<std::int32_t>{1});
}

TEST(BlameTest, ADeathInsideTheCallIsToBlameWhenOthersFailed) {
  const Scene scene(2, [](int number, FakeRank& rank, std::uint64_t world) {
    const auto id = rank.call(10, world, Op::kAllReduce);
    if (number == 0) rank.end(20, id, Outcome::kFailed);
    rank.exit(number == 0 ? 1 : -1, number == 0 ? 0 : 11);
  });
  EXPECT_EQ(scene.blame().cause, Cause::kEndedInside);
  EXPECT_EQ(ranks_of(scene.blame().guilty), std::vector<std::int32_t>{1});
}

// Nobody is missing and nobody went first: a network that hangs looks like this.
TEST(BlameTest, WhenAllStillWaitNobodyIsToBlame) {
  const Scene scene(2, [](int, FakeRank& rank, std::uint64_t world) {
    rank.call(10, world, Op::kAllReduce);
    rank.killed();
  });
  EXPECT_EQ(scene.blame().cause, Cause::kNotKnown);
  EXPECT_TRUE(scene.blame().guilty.empty());
}

}  // namespace
}  // namespace plumbline::checks
