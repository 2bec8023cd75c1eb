#include "reader/run_clock.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::open_run;
using testing::sample;
using testing::TempDir;
using testing::TraceBuilder;

constexpr std::uint64_t kSecond = 1'000'000'000;

// A process of one sample, one second after its start.
void write(const std::string& directory, int rank, std::uint64_t start_monotonic, std::uint64_t start_realtime,
           const std::string& boot = "boot-a") {
  recorder::TraceBuilderOptions options;
  options.rank = rank;
  options.world_size = 2;
  options.host = boot;
  options.boot_id = boot;
  options.pid = 100 + static_cast<std::uint32_t>(rank);
  options.start_monotonic_ns = start_monotonic;
  options.start_realtime_ns = start_realtime;
  TraceBuilder trace(directory, options);
  trace.add(0, sample(start_monotonic + kSecond, Counter::kResidentBytes, 1));
  trace.finish({.status = 0});
}

TEST(RunClockTest, TheEarliestProcessStartsTheRun) {
  const TempDir directory;
  write(directory.path(), 0, 103 * kSecond, 1003 * kSecond);
  write(directory.path(), 1, 100 * kSecond, 1000 * kSecond);
  const auto run = open_run(directory.path());
  const RunClock clock(run);
  EXPECT_EQ(clock.start_realtime_ns(), 1000 * kSecond);
  EXPECT_EQ(clock.since_start(0, 103 * kSecond), static_cast<std::int64_t>(3 * kSecond));
  EXPECT_EQ(clock.since_start(1, 100 * kSecond), 0);
  EXPECT_EQ(clock.since_start(1, 99 * kSecond), -static_cast<std::int64_t>(kSecond));
}

TEST(RunClockTest, TraceTimeIsTheInverse) {
  const TempDir directory;
  write(directory.path(), 0, 100 * kSecond, 1000 * kSecond);
  write(directory.path(), 1, 7 * kSecond, 1002 * kSecond, "boot-b");
  const auto run = open_run(directory.path());
  const RunClock clock(run);
  for (std::size_t trace = 0; trace < 2; ++trace) {
    for (const double seconds : {0.0, 0.5, 3.25}) {
      const std::uint64_t time = clock.trace_time(trace, seconds);
      EXPECT_NEAR(RunClock::seconds(clock.since_start(trace, time)), seconds, 1e-6) << "trace " << trace;
    }
  }
}

// Hosts without a collective in common have only their wall clocks.
TEST(RunClockTest, HostsThatShareNothingAreAlignedByTheWallClock) {
  const TempDir directory;
  write(directory.path(), 0, 100 * kSecond, 1000 * kSecond);
  write(directory.path(), 1, 7 * kSecond, 1002 * kSecond, "boot-b");
  const auto run = open_run(directory.path());
  const RunClock clock(run);
  EXPECT_EQ(clock.since_start(1, 7 * kSecond), static_cast<std::int64_t>(2 * kSecond));
}

TEST(RunClockTest, ImpossibleTimesSaturate) {
  const TempDir directory;
  write(directory.path(), 0, 100 * kSecond, 1000 * kSecond);
  const auto run = open_run(directory.path());
  const RunClock clock(run);
  EXPECT_EQ(clock.trace_time(0, 1e300), UINT64_MAX);
  EXPECT_EQ(clock.trace_time(0, -1e300), 0U);
}

}  // namespace
}  // namespace plumbline::reader
