// How processes end that leave no exit record.
#include "checks/ending.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "checks/testing/fake_rank.hpp"
#include "reader/testing/ring_file.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using testing::FakeRank;

// A process of this machine that is not there any more.
testing::RankOptions gone() {
  testing::RankOptions options;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  options.host = host.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> options.boot_id;
  options.pid = (1U << 22) + 77;  // beyond the largest that a kernel gives out
  return options;
}

// The ring that a process leaves which does not come to its end.
reader::testing::RingFile ring_of(FakeRank& rank) {
  reader::testing::RingFile ring(1, 64);
  std::strcpy(ring.file_header().trace_name, std::filesystem::path(rank.trace().path()).filename().c_str());
  return ring;
}

TEST(EndingWithoutRecord, AnInterruptFromTheKeyboard) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1, gone());
  rank.trace().fact("exception.class", "KeyboardInterrupt");
  rank.trace().fact("exception.message", "");
  rank.step(1, 2);
  rank.killed();
  ring_of(rank).save(directory / "a.ring");
  const reader::Run run = open_run(directory.path());
  const Ending ending = ending_of(run.traces()[0]);
  EXPECT_EQ(ending.kind, EndingKind::kSignal);
  EXPECT_EQ(ending.clause, "was killed by SIGINT after KeyboardInterrupt");
}

TEST(EndingWithoutRecord, AFatalSignalIsKnownByTheStackThatWasTaken) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1, gone());
  rank.step(1, 2);
  rank.stack(
      5,
      {.python = {{"fail", "train.py", 12}}, .reason = recorder::StackReason::kFatalSignal, .detail = 6, .flags = 0});
  rank.killed();
  ring_of(rank).save(directory / "a.ring");
  const reader::Run run = open_run(directory.path());
  const Ending ending = ending_of(run.traces()[0]);
  EXPECT_EQ(ending.kind, EndingKind::kSignal);
  EXPECT_TRUE(ending.bad_by_itself());
  EXPECT_EQ(ending.clause, "was killed by SIGABRT");
}

TEST(EndingWithoutRecord, ASignalThatTheProcessSurvivedIsNotItsEnd) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1, gone());
  rank.stack(5, {.reason = recorder::StackReason::kFatalSignal, .detail = 11});
  rank.step(5000, 5001);
  rank.killed();
  ring_of(rank).save(directory / "a.ring");
  const reader::Run run = open_run(directory.path());
  EXPECT_EQ(ending_of(run.traces()[0]).kind, EndingKind::kKilled);
}

TEST(EndingWithoutRecord, AnExceptionThatTheProcessDidNotSurviveTelling) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1, gone());
  rank.trace().fact("exception.class", "ValueError");
  rank.trace().fact("exception.message", "no such shard");
  rank.step(1, 2);
  rank.killed();
  ring_of(rank).save(directory / "a.ring");
  const Ending ending = ending_of(open_run(directory.path()).traces()[0]);
  EXPECT_EQ(ending.kind, EndingKind::kKilled);
  EXPECT_EQ(ending.clause, "ended without an exit record after ValueError: no such shard");
}

TEST(EndingWithoutRecord, RecordingThatEndedBeforeTheProcessIsNoKill) {
  const TempDir directory;
  FakeRank rank(directory.path(), 0, 1, gone());
  rank.step(1, 2);
  rank.killed();
  auto ring = ring_of(rank);
  ring.file_header().stopped_ns = rank.at(5);
  std::strcpy(ring.file_header().stop_reason, "the disk is full");
  ring.save(directory / "a.ring");
  const Ending unseen = ending_of(open_run(directory.path()).traces()[0]);
  EXPECT_EQ(unseen.kind, EndingKind::kUnknown);
  EXPECT_EQ(unseen.clause, "ended unseen; its recording had ended before: the disk is full");

  ring.file_header().exit_ns = rank.at(50);
  ring.file_header().exit_status = 0;
  ring.save(directory / "a.ring");
  const Ending seen = ending_of(open_run(directory.path()).traces()[0]);
  EXPECT_EQ(seen.kind, EndingKind::kClean);
  EXPECT_EQ(seen.time_ns, rank.at(50));
  EXPECT_EQ(seen.clause, "exited with status 0; its recording had ended before: the disk is full");
  EXPECT_TRUE(open_run(directory.path()).stats().data_lost());

  ring.file_header().exit_status = 1;
  ring.save(directory / "a.ring");
  EXPECT_TRUE(ending_of(open_run(directory.path()).traces()[0]).bad());
}

TEST(EndingWithoutRecord, AProcessThatReplacedItsProgramDidNotFail) {
  const TempDir directory;
  testing::RankOptions options = gone();
  FakeRank before(directory.path(), 0, 1, options);
  before.trace().fact("process.began", "1234");
  before.step(1, 2);
  before.killed();
  ring_of(before).save(directory / "a.ring");
  options.start_monotonic_ns += 1'000'000'000;
  options.start_realtime_ns += 1'000'000'000;
  FakeRank after(directory.path(), 0, 1, options);
  after.trace().fact("process.began", "1234");
  after.step(1, 2);
  after.exit(0);
  const reader::Run run = open_run(directory.path());
  const Ending ending = ending_of(run.traces()[0]);
  EXPECT_EQ(ending.kind, EndingKind::kReplaced);
  EXPECT_FALSE(ending.bad());
  EXPECT_NE(ending.clause.find(std::filesystem::path(after.trace().path()).filename()), std::string::npos);
}

}  // namespace
}  // namespace plumbline::checks
