#include "reader/launches.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::open_run;
using testing::TempDir;
using testing::TraceBuilder;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBoot = 1000 * kSecond;
constexpr std::uint64_t kWall = 1'700'000'000 * kSecond;

struct Life {
  int rank = 0;
  std::uint32_t pid = 10;
  std::uint64_t from_s = 0;
  std::uint64_t to_s = 1;
  int world = 2;
  std::string began{};
  std::string job{};
  bool met = false;  // its whole world
  bool ended = false;
};

void live(const std::string& directory, const Life& life) {
  recorder::TraceBuilderOptions options;
  options.pid = life.pid;
  options.rank = life.rank;
  options.world_size = life.world;
  options.start_monotonic_ns = kBoot + life.from_s * kSecond;
  options.start_realtime_ns = kWall + life.from_s * kSecond;
  TraceBuilder builder(directory, options);
  if (!life.began.empty()) builder.fact("process.began", life.began);
  if (!life.job.empty()) builder.fact("env.TORCHELASTIC_RUN_ID", life.job);
  if (life.met) builder.group("0", "default_pg", "gloo", "", life.rank, life.world);
  builder.add(0, testing::alloc(options.start_monotonic_ns, 16, 16));
  builder.add(0, testing::alloc(kBoot + life.to_s * kSecond, 32, 16));
  if (life.ended)
    builder.finish({});
  else
    builder.flush();
}

std::vector<int> launches_of(const reader::Run& run) {
  std::vector<int> launches;
  for (const Trace& trace : run.traces()) launches.push_back(trace.launch());
  return launches;
}

using Numbers = std::vector<int>;

TEST(LaunchesTest, RanksOfOneWorldAreOneLaunch) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .job = "a"});
  live(directory.path(), {.rank = 1, .pid = 11, .job = "a"});
  EXPECT_EQ(open_run(directory.path()).launches(), 1);
}

// The ranks of two runs need not collide.
TEST(LaunchesTest, AnotherWorldIsAnotherLaunch) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .world = 2});
  live(directory.path(), {.rank = 3, .pid = 13, .from_s = 2, .to_s = 3, .world = 4});
  live(directory.path(), {.rank = 2, .pid = 12, .from_s = 2, .to_s = 3, .world = 4});
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.launches(), 2);
  EXPECT_EQ(launches_of(run), (Numbers{0, 1, 1}));
  EXPECT_EQ(run.missing_ranks(), (Numbers{0, 1}));
  EXPECT_EQ(run.stats().value("launches"), 2U);
}

TEST(LaunchesTest, AnotherJobIsAnotherLaunch) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .job = "first"});
  live(directory.path(), {.rank = 1, .pid = 11, .job = "second"});
  EXPECT_EQ(open_run(directory.path()).launches(), 2);
}

TEST(LaunchesTest, TorchrunsNoneIsNoJob) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .job = "none"});
  live(directory.path(), {.rank = 1, .pid = 11, .job = "0c4f"});
  EXPECT_EQ(open_run(directory.path()).launches(), 1);
}

TEST(LaunchesTest, RanksThatMetTheirWorldAtDifferentTimesAreTwoLaunches) {
  for (const bool met : {true, false}) {
    const TempDir directory;
    live(directory.path(), {.rank = 0, .pid = 10, .from_s = 0, .to_s = 50, .met = met});
    live(directory.path(), {.rank = 1, .pid = 11, .from_s = 500, .to_s = 550, .met = met});
    // A rank that died before the others came may have been one of theirs.
    EXPECT_EQ(open_run(directory.path()).launches(), met ? 2 : 1);
  }
}

TEST(LaunchesTest, ALateRankOfALongRunIsOfItsLaunch) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .from_s = 0, .to_s = 900, .met = true});
  live(directory.path(), {.rank = 1, .pid = 11, .from_s = 500, .to_s = 900, .met = true});
  EXPECT_EQ(open_run(directory.path()).launches(), 1);
}

TEST(LaunchesTest, ScriptsWithoutRanksThatFollowEachOtherAreALaunchEach) {
  const TempDir directory;
  live(directory.path(), {.rank = -1, .pid = 10, .from_s = 0, .to_s = 10, .world = -1});
  live(directory.path(), {.rank = -1, .pid = 11, .from_s = 5, .to_s = 10, .world = -1});
  live(directory.path(), {.rank = -1, .pid = 12, .from_s = 20, .to_s = 30, .world = -1});
  EXPECT_EQ(launches_of(open_run(directory.path())), (Numbers{0, 0, 1}));
}

TEST(LaunchesTest, AProcessThatReplacedItsProgramGoesOnInItsLaunch) {
  const TempDir directory;
  live(directory.path(), {.rank = 0, .pid = 10, .from_s = 0, .to_s = 10, .began = "777"});
  live(directory.path(), {.rank = 1, .pid = 11, .from_s = 0, .to_s = 30, .began = "778"});
  live(directory.path(), {.rank = 0, .pid = 10, .from_s = 15, .to_s = 30, .began = "777", .ended = true});
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(run.launches(), 1);
  ASSERT_EQ(run.traces().size(), 3U);
  EXPECT_EQ(run.traces()[0].continued_in(), run.traces()[1].path());
  EXPECT_EQ(run.traces()[1].continued_in(), "");
  EXPECT_EQ(run.find(0)->process().start_monotonic_ns, kBoot + 15 * kSecond);
}

TEST(LaunchesTest, ANumberThatWasGivenOutAgainIsAnotherProcess) {
  for (const char* began : {"999", ""}) {
    const TempDir directory;
    live(directory.path(), {.rank = 0, .pid = 10, .from_s = 0, .to_s = 10, .began = "777"});
    live(directory.path(), {.rank = 0, .pid = 10, .from_s = 15, .to_s = 30, .began = began});
    const reader::Run run = open_run(directory.path());
    EXPECT_EQ(run.launches(), 2);
    EXPECT_EQ(run.traces()[0].continued_in(), "");
  }
}

}  // namespace
}  // namespace plumbline::reader
