#include "checks/wait_graph.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;
using testing::Op;
using testing::Outcome;
using Ranks = std::vector<std::int32_t>;

// The graph over what was written to a directory.
struct Scene {
  explicit Scene(const TempDir& directory) : run(open_run(directory.path())), subject(run) {
    fronts = group_fronts(subject, {0, 0});
    graph.emplace(subject, Attempt{0, 0}, fronts);
  }
  reader::Run run;
  Subject subject;
  std::vector<GroupFront> fronts;
  std::optional<WaitGraph> graph;
};

TEST(WaitGraphTest, OfAHealthyRunIsEmpty) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(directory.path(), number, 2);
    rank.whole_call(1, 2, rank.group("0", "default_pg", "0,1"), Op::kAllReduce);
    rank.exit(0);
  }
  const Scene scene(directory);
  EXPECT_TRUE(scene.graph->ops().empty());
  EXPECT_TRUE(scene.graph->roots().empty());
  EXPECT_EQ(scene.graph->rank_count(), 2U);
  EXPECT_EQ(scene.graph->blocked_in(0), nullptr);
}

// Tensor-parallel pairs inside a pipeline of two stages, data-parallel over both: rank 3 computes. Its pair waits for
// it, the stage before waits for the pair, the other replica for both.
TEST(WaitGraphTest, FollowsWaitsAcrossGroupsToTheirRoot) {
  const TempDir directory;
  const auto tp_of = [](int rank) { return rank / 2 * 2; };
  for (int number = 0; number < 8; ++number) {
    FakeRank rank(directory.path(), number, 8);
    const int low = tp_of(number);
    const auto tp = rank.group("tp" + std::to_string(low), "tensor",
                               std::to_string(low) + "," + std::to_string(low + 1), number % 2);
    const int base = number % 4;
    const auto dp = rank.group("dp" + std::to_string(base), "data",
                               std::to_string(base) + "," + std::to_string(base + 4), number / 4);
    const int stage = number / 2 % 2;
    const int first = number / 4 * 4 + number % 2;
    const auto pp = rank.group("pp" + std::to_string(first), "pipeline",
                               std::to_string(first) + "," + std::to_string(first + 2), stage);
    if (number == 2) rank.wait(21, rank.call(20, tp, Op::kAllReduce));
    if (number == 0) rank.wait(31, rank.call(30, pp, Op::kRecv, {.peer = 1}));
    if (number == 1) rank.wait(31, rank.call(30, pp, Op::kRecv, {.peer = 1}));
    if (number >= 4) rank.wait(41, rank.call(40, dp, Op::kAllReduce));
    rank.exit(-1, 15);
  }
  const Scene scene(directory);
  const std::vector<Root> roots = scene.graph->roots();
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].kind, RootKind::kAbsent);
  EXPECT_EQ(roots[0].ranks, Ranks{3});
  EXPECT_EQ(roots[0].affected, (Ranks{0, 1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(scene.fronts[scene.graph->ops()[roots[0].op].front].name, "tensor");
}

// Two ranks that are missing in two groups are two roots, each with those that it holds up.
TEST(WaitGraphTest, RootsOfSeparateGroupsAreSeparate) {
  const TempDir directory;
  for (int number = 0; number < 4; ++number) {
    FakeRank rank(directory.path(), number, 4);
    const bool low = number < 2;
    const auto group = rank.group(low ? "a" : "b", "expert", low ? "0,1" : "2,3", number % 2);
    if (number % 2 == 0) rank.call(10 + number, group, Op::kAllToAllBase);
    rank.exit(-1, 15);
  }
  const Scene scene(directory);
  const std::vector<Root> roots = scene.graph->roots();
  ASSERT_EQ(roots.size(), 2U);
  EXPECT_EQ(roots[0].ranks, Ranks{1});
  EXPECT_EQ(roots[0].affected, Ranks{0});
  EXPECT_EQ(roots[1].ranks, Ranks{3});
}

TEST(WaitGraphTest, AFailedCallWasWaitedIn) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world = rank0.group("0", "default_pg", "0,1");
  rank0.end(50, rank0.call(20, world, Op::kAllReduce), Outcome::kFailed);
  rank0.call(60, world, Op::kAllReduce);
  rank0.exit(1);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.group("0", "default_pg", "0,1");
  rank1.exit(0);
  const Scene scene(directory);
  ASSERT_EQ(scene.graph->ops().size(), 1U);
  const OpenOp& op = scene.graph->ops()[0];
  EXPECT_EQ(op.seq, 0U);
  EXPECT_EQ(op.with(Standing::kFailed).size(), 1U);
  EXPECT_EQ(op.with(Standing::kAbsent).size(), 1U);
  EXPECT_EQ(op.example()->seq, 0U);
}

TEST(WaitGraphTest, MessagesAreMatchedByTheirNumber) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  const auto world0 = rank0.group("0", "default_pg", "0,1");
  for (int index = 0; index < 3; ++index) rank0.whole_call(index, index + 1, world0, Op::kSend, {.peer = 1, .tag = 9});
  rank0.exit(0);
  FakeRank rank1(directory.path(), 1, 2);
  const auto world1 = rank1.group("0", "default_pg", "0,1");
  for (int index = 0; index < 3; ++index) rank1.whole_call(index, index + 1, world1, Op::kRecv, {.peer = 0, .tag = 9});
  rank1.wait(21, rank1.call(20, world1, Op::kRecv, {.peer = 0, .tag = 9}));
  rank1.exit(-1, 15);
  const Scene scene(directory);
  ASSERT_EQ(scene.graph->ops().size(), 1U);
  const OpenOp& op = scene.graph->ops()[0];
  EXPECT_TRUE(op.point_to_point);
  EXPECT_EQ(op.seq, 3U);
  EXPECT_EQ(op.parties[0].rank, 0);
  EXPECT_EQ(op.parties[0].standing, Standing::kAbsent);
  EXPECT_EQ(op.parties[1].standing, Standing::kWaiting);
}

// A device's queue: the tensor-parallel call of rank 0 stands behind its receive, which waits for rank 1.
TEST(WaitGraphTest, OnADeviceTheOldestCallHoldsUpTheRest) {
  const TempDir directory;
  for (const int number : {0, 1, 2}) {
    FakeRank rank(directory.path(), number, 3);
    const auto pipeline = rank.group("pp", "pipeline", "0,1", number, "nccl");
    const auto tensor = rank.group("tp", "tensor", "0,2", number / 2, "nccl");
    if (number == 0) rank.call(10, pipeline, Op::kRecv, {.peer = 1});
    if (number != 1) rank.call(20, tensor, Op::kAllReduce);
    rank.exit(-1, 15);
  }
  const Scene scene(directory);
  const std::vector<Root> roots = scene.graph->roots();
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].ranks, Ranks{1});
  EXPECT_EQ(roots[0].affected, (Ranks{0, 2}));
}

// A dump starts anywhere: its messages go by the numbers that the job's library gave them.
TEST(WaitGraphTest, MessagesOfImportedDumpsGoByTheirOwnNumbers) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 2);
  rank0.trace().fact("source.format", "PyTorch flight recorder");
  const auto pair0 = rank0.group("pp", "pipeline", "0,1", 0, "nccl");
  rank0.whole_call(1, 2, pair0, Op::kSend, {.peer = 1});
  rank0.call(10, pair0, Op::kSend, {.peer = 1});
  rank0.exit(-1, 15);
  FakeRank rank1(directory.path(), 1, 2);
  rank1.trace().fact("source.format", "PyTorch flight recorder");
  rank1.whole_call(1, 2, rank1.group("pp", "pipeline", "0,1", 1, "nccl"), Op::kRecv, {.peer = 0});
  rank1.exit(-1, 15);
  const Scene scene(directory);
  ASSERT_EQ(scene.graph->ops().size(), 1U);
  EXPECT_EQ(scene.graph->ops()[0].seq, 1U);
  EXPECT_EQ(scene.graph->ops()[0].parties[1].standing, Standing::kAbsent);
}

TEST(WaitGraphTest, ARankWithoutATraceIsADeadEnd) {
  const TempDir directory;
  FakeRank rank0(directory.path(), 0, 3);
  rank0.call(20, rank0.group("0", "default_pg", "0,1,2"), Op::kAllReduce);
  rank0.exit(-1, 15);
  const Scene scene(directory);
  const std::vector<Root> roots = scene.graph->roots();
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].ranks, (Ranks{1, 2}));
  EXPECT_EQ(scene.graph->ops()[0].with(Standing::kNoTrace).size(), 2U);
}

}  // namespace
}  // namespace plumbline::checks
