#include "checks/whereabouts.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

TEST(SiteTextTest, KeepsWhatTellsFilesApart) {
  EXPECT_EQ(site_text("/home/me/project/jobs/train.py:41 in evaluate"), "jobs/train.py:41 in evaluate");
  EXPECT_EQ(site_text("train.py:41 in main"), "train.py:41 in main");
  EXPECT_EQ(site_text("/train.py:41 in main"), "/train.py:41 in main");
  EXPECT_EQ(site_text("a/b.py:1 in f/g"), "a/b.py:1 in f/g");
  EXPECT_EQ(site_text(""), "");
}

struct Scene {
  template <class Act>
  explicit Scene(const Act& act) {
    FakeRank rank(directory.path(), 3, 4);
    rank.step(1, 2);
    act(rank);
    rank.exit(0);
    run.emplace(open_run(directory.path()));
  }
  const reader::Trace& trace() const { return run->traces()[0]; }
  std::uint64_t at(double ms) const { return 5'000'000'000 + static_cast<std::uint64_t>(ms * 1e6); }

  TempDir directory;
  std::optional<reader::Run> run;
};

TEST(WhereaboutsTest, TheLatestStackOfTheTrainingThread) {
  const Scene scene([](FakeRank& rank) {
    rank.stack(100, {.python = {{"old", "train.py", 1}}});
    rank.stack(200, {.python = {{"wait", "/usr/lib/python3.12/threading.py", 359}, {"load", "/home/me/data.py", 7}}});
    rank.stack(300, {.python = {{"loop", "loader.py", 5}}, .flags = 0, .thread_name = "loader", .tid = 77});
    rank.stack(400, {.python = {{"big", "train.py", 2}}, .reason = recorder::StackReason::kLargeAllocation});
  });
  const reader::Stack* stack = stack_since(scene.trace(), scene.at(50));
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(script_line(*stack), "me/data.py:7 in load");
  EXPECT_EQ(stack_text(*stack), "wait (threading.py:359) < load (data.py:7)");
  EXPECT_EQ(stack_since(scene.trace(), scene.at(250)), nullptr);
}

TEST(WhereaboutsTest, WhoHoldsTheInterpreterLockIsTold) {
  const Scene scene([](FakeRank& rank) {
    rank.stack(200, {.python = {{"step", "train.py", 7}}});
    rank.stack(200, {.python = {{"crunch", "native.py", 5}},
                     .flags = recorder::kHoldsInterpreterLock,
                     .thread_name = "worker",
                     .tid = 77});
  });
  const Subject subject(*scene.run);
  const std::vector<std::string> lines = stack_lines(subject, 0, 0);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "rank 3 stood at 0.200 s: step (train.py:7)");
  EXPECT_EQ(lines[1], "rank 3, interpreter lock held by worker at 0.200 s: crunch (native.py:5)");
}

TEST(WhereaboutsTest, NativeFramesStandInWherePythonIsNotSeen) {
  const Scene scene([](FakeRank& rank) { rank.stack(200, {.native = {{"poll", "", 0}, {"gloo::wait", "", 0}}}); });
  const reader::Stack* stack = stack_since(scene.trace(), 0);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack_text(*stack), "poll < gloo::wait");
  EXPECT_EQ(script_line(*stack), "");
}

TEST(WhereaboutsTest, AnExceptionComesFromTheJobsOwnInnermostLine) {
  const Scene scene([](FakeRank& rank) {
    rank.trace().fact("exception.stack",
                      "/usr/lib/python3.11/json/decoder.py:355 in raw_decode < /home/me/jobs/train.py:12 in "
                      "Loader.read.<locals>.one < /home/me/jobs/train.py:40 in main");
  });
  EXPECT_EQ(exception_line(scene.trace()), "jobs/train.py:12 in Loader.read.<locals>.one");
  EXPECT_EQ(exception_line(Scene([](FakeRank&) {}).trace()), "");
}

TEST(WhereaboutsTest, ThePhaseIsTheInnermostRangeOfTheJob) {
  const Scene scene([](FakeRank& rank) {
    const auto outer = rank.open_range(10, "evaluate");
    const auto inner = rank.open_range(20, "DistributedDataParallel.forward");
    rank.range(30, 40, "gloo:all_reduce");
    rank.operation(33, 38, "aten::mm Float[2,2] Float[2,2]");
    rank.close_range(50, inner, "DistributedDataParallel.forward");
    rank.close_range(60, outer, "evaluate");
  });
  EXPECT_EQ(phase_at(scene.trace(), scene.at(35)), "DistributedDataParallel.forward");
  EXPECT_EQ(phase_at(scene.trace(), scene.at(55)), "evaluate");
  EXPECT_EQ(phase_at(scene.trace(), scene.at(70)), "");
}

TEST(WhereaboutsTest, StepsAreCounted) {
  const Scene one([](FakeRank&) {});
  EXPECT_EQ(steps_done(one.trace()), "1 step");
  const Scene two([](FakeRank& rank) { rank.step(3, 4); });
  EXPECT_EQ(steps_done(two.trace()), "2 steps");
}

}  // namespace
}  // namespace plumbline::checks
