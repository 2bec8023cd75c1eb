#include "reader/liveness.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::open_run;
using testing::sample;
using testing::TempDir;
using testing::TraceBuilder;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::string this_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string this_host() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// The trace of a process on this machine that began to record a moment ago.
Life life_of_process(std::uint32_t pid, const std::string& host, const std::string& boot, bool ended) {
  const TempDir directory;
  recorder::TraceBuilderOptions options;
  options.host = host;
  options.boot_id = boot;
  options.pid = pid;
  options.start_monotonic_ns = now_ns();
  TraceBuilder trace(directory.path(), options);
  trace.add(0, sample(options.start_monotonic_ns + 1, Counter::kResidentBytes, 1));
  if (ended) {
    trace.finish({.status = 0});
  } else {
    trace.flush();
  }
  const Run run = open_run(directory.path());
  return life_of(run.traces()[0]);
}

std::uint32_t own_pid() { return static_cast<std::uint32_t>(getpid()); }

TEST(LivenessTest, AnExitRecordIsTheEnd) {
  EXPECT_EQ(life_of_process(own_pid(), this_host(), this_boot(), true), Life::kEnded);
}

TEST(LivenessTest, AProcessOfThisMachineIsAskedFor) {
  EXPECT_EQ(life_of_process(own_pid(), this_host(), this_boot(), false), Life::kRunning);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(life_of_process(static_cast<std::uint32_t>(child), this_host(), this_boot(), false), Life::kGone);
}

TEST(LivenessTest, ADeadChildThatNobodyCollectedIsGone) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_running(static_cast<std::uint32_t>(child), now_ns()));
  waitpid(child, nullptr, 0);
}

TEST(LivenessTest, AProcessOnItsWayOutIsGone) {
  const std::string rest = " 0 2 0 0 0 0 0 0 0 0 20 0 67 0 100 5 ";
  EXPECT_TRUE(tells_of_life("7 (py ) thon) S 1 7 7 0 -1 4194304" + rest, now_ns()));
  EXPECT_FALSE(tells_of_life("7 (py ) thon) R 1 7 7 0 -1 4194308" + rest, now_ns()));
  EXPECT_FALSE(tells_of_life("7 (python) Z 1 7 7 0 -1 4194304" + rest, now_ns()));
  EXPECT_FALSE(tells_of_life("7 (python) S 1 7 7", now_ns()));
  EXPECT_FALSE(tells_of_life("", now_ns()));
}

TEST(LivenessTest, OtherMachinesAndBootsCannotBeAsked) {
  EXPECT_EQ(life_of_process(own_pid(), "another-host", this_boot(), false), Life::kUnknown);
  EXPECT_EQ(life_of_process(own_pid(), this_host(), "another-boot", false), Life::kUnknown);
}

// Process numbers are given again: a process that is younger than the recording is another one.
TEST(LivenessTest, AYoungerProcessOfTheSameNumberIsNotTheOne) {
  EXPECT_TRUE(is_running(own_pid(), now_ns()));
  EXPECT_FALSE(is_running(own_pid(), 0));
}

}  // namespace
}  // namespace plumbline::reader
