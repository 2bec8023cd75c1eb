#include "checks/blame.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "checks/testing/fake_world.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;

// What became of call #0 of a group of ranks: a trace a rank, written by `act`.
struct Scene {
  template <class Act>
  Scene(int ranks, const Act& act) {
    for (int number = 0; number < ranks; ++number) {
      FakeRank rank(directory.path(), number, ranks);
      rank.step(1, 2);
      act(number, rank, rank.group("0", "default_pg", testing::ranks_of_all(ranks)));
    }
    run.emplace(open_run(directory.path()));
    subject.emplace(*run);
    fronts = group_fronts(*subject, {0, 0});
    graph.emplace(*subject, Attempt{0, 0}, fronts);
  }

  Blame blame() const { return blame_for(*subject, graph->ops().at(0)); }

  TempDir directory;
  std::optional<reader::Run> run;
  std::optional<Subject> subject;
  std::vector<GroupFront> fronts;
  std::optional<WaitGraph> graph;
};

TEST(BlameTest, WhoDidNotFinishWhatThePeersDid) {
  const Scene scene(3, [](int number, FakeRank& rank, std::uint64_t world) {
    const auto id = rank.call(10, world, Op::kAllReduce);
    if (number != 2) rank.end(11, id);
    rank.killed();
  });
  EXPECT_EQ(scene.blame().cause, Cause::kUnfinished);
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
