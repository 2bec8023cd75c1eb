#include "reader/capture_sets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "reader/testing/records.hpp"
#include "recorder/capture_writer.hpp"

namespace plumbline::reader {
namespace {

using testing::open_run;
using testing::TempDir;

constexpr std::uint64_t kSecond = 1'000'000'000;

struct Process {
  int rank = 0;
  std::uint32_t pid = 10;
  int attempt = 0;
  std::uint64_t start_s = 1;
  std::uint64_t end_s = 9;       // 0: killed
  int rank_of_environment = -2;  // -2: the same
};

int environment_rank(const Process& process) {
  return process.rank_of_environment == -2 ? process.rank : process.rank_of_environment;
}

void trace(const TempDir& run, const Process& process, int world = 2) {
  recorder::TraceBuilderOptions options;
  options.host = "node";
  options.boot_id = "boot";
  options.pid = process.pid;
  options.rank = environment_rank(process);
  options.world_size = options.rank >= 0 ? world : -1;
  options.attempt = process.attempt;
  options.start_monotonic_ns = process.start_s * kSecond;
  options.start_realtime_ns = (1000 + process.start_s) * kSecond;
  recorder::TraceBuilder builder(run.path(), options);
  if (process.rank >= 0) builder.group("0", "default_pg", "gloo", world == 2 ? "0,1" : "0,1,2,3", process.rank, world);
  builder.thread(0, process.pid, "python");
  builder.add(0, testing::alloc((process.start_s + 1) * kSecond, 1, 64));
  if (process.end_s > 0)
    builder.finish({0, 0, "", ""}, process.end_s * kSecond);
  else
    builder.flush();
}

// Its first capture a second after its start.
std::string captures(const TempDir& run, const Process& process, std::int64_t step = 0, bool any = true) {
  std::filesystem::create_directories(run / "captures");
  recorder::Identity identity;
  identity.host = "node";
  identity.boot_id = "boot";
  identity.pid = process.pid;
  identity.rank = environment_rank(process);
  identity.attempt = process.attempt;
  recorder::CaptureWriter writer;
  EXPECT_FALSE(writer.create(run / ("captures/" + std::to_string(process.pid) + ".plc"), identity,
                             {(process.start_s + 1) * kSecond, (1001 + process.start_s) * kSecond},
                             recorder::Level::kDiagnose));
  recorder::Capture row{};
  row.probe = "loss";
  row.name = "x";
  row.step = step;
  if (any) {
    EXPECT_FALSE(writer.add(row));
  }
  EXPECT_FALSE(writer.finish());
  return writer.path();
}

// "launch.attempt.turn: ranks" of each set.
std::vector<std::string> told(const CaptureSets& sets) {
  std::vector<std::string> all;
  for (const CaptureSet& set : sets.all) {
    std::string text =
        std::to_string(set.launch) + "." + std::to_string(set.attempt) + "." + std::to_string(set.turn) + ":";
    for (const int rank : set.captures.ranks()) text += " " + std::to_string(rank);
    all.push_back(text);
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(CaptureSets, RanksOfOneStart) {
  const TempDir run;
  for (const Process& one : {Process{.rank = 0, .pid = 10}, Process{.rank = 1, .pid = 11, .end_s = 0}}) {
    trace(run, one);
    captures(run, one);
  }
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  EXPECT_EQ(told(sets), Texts{"0.0.0: 0 1"});
  EXPECT_TRUE(sets.foreign.empty() && sets.damaged.empty() && sets.unused.empty());
  EXPECT_EQ(sets.main(), 0U);
}

TEST(CaptureSets, AttemptsAndLaunchesAreApart) {
  const TempDir run;
  for (const Process& one : {Process{.pid = 10, .end_s = 3}, Process{.pid = 20, .attempt = 1, .start_s = 4, .end_s = 6},
                             Process{.pid = 30, .start_s = 200, .end_s = 220}}) {
    trace(run, one, 1);
    captures(run, one);
  }
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  EXPECT_EQ(told(sets), (Texts{"0.0.0: 0", "0.1.0: 0", "1.0.0: 0"}));
  EXPECT_EQ(sets.main(), 2U);
  EXPECT_EQ(sets.all[1].captures.files().front().process().pid, 20U);
}

TEST(CaptureSets, FilesOfAnotherRunAreNamed) {
  const TempDir run;
  const Process own{.pid = 10};
  trace(run, own);
  captures(run, own);
  const std::string other = captures(run, {.rank = 1, .pid = 77});
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  EXPECT_EQ(told(sets), Texts{"0.0.0: 0"});
  EXPECT_EQ(sets.foreign, Texts{other + " is of rank 1, process 77 on node, of which " + run.path() +
                                " holds no trace; put it beside the traces of its own run."});
}

// A container gives out the same numbers at each start.
TEST(CaptureSets, TheSameProcessNumberAtAnotherTimeIsAnother) {
  const TempDir run;
  trace(run, {.pid = 10, .start_s = 100, .end_s = 110});
  captures(run, {.pid = 10, .start_s = 1});
  const reader::Run opened = open_run(run.path());
  EXPECT_EQ(CaptureSets::open(opened).foreign.size(), 1U);
  const TempDir later;
  trace(later, {.pid = 10, .start_s = 1, .end_s = 9});
  captures(later, {.pid = 10, .start_s = 100});
  const reader::Run opened_later = open_run(later.path());
  EXPECT_EQ(CaptureSets::open(opened_later).foreign.size(), 1U);
}

TEST(CaptureSets, ACopyOfAFileIsNotCountedTwice) {
  const TempDir run;
  const Process own{.pid = 10};
  trace(run, own, 1);
  const std::string file = captures(run, own);
  std::filesystem::copy_file(file, run / "captures/0.plc");
  std::filesystem::resize_file(run / "captures/0.plc", std::filesystem::file_size(file) / 2);
  std::filesystem::copy_file(file, run / "captures/copy.plc");
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  ASSERT_EQ(told(sets), Texts{"0.0.0: 0"});
  ASSERT_EQ(sets.all[0].captures.files().size(), 1U);
  EXPECT_EQ(sets.all[0].captures.files().front().captures().size(), 1U);
  EXPECT_TRUE(sets.foreign.empty() && sets.unused.empty());
}

// Those of multiprocessing.spawn learn their ranks when they meet.
TEST(CaptureSets, RanksThatOnlyTheGroupKnows) {
  const TempDir run;
  for (const int rank : {0, 1}) {
    const Process one{.rank = rank, .pid = 10 + static_cast<std::uint32_t>(rank), .rank_of_environment = -1};
    trace(run, one);
    captures(run, one);
  }
  const reader::Run opened = open_run(run.path());
  EXPECT_EQ(told(CaptureSets::open(opened)), Texts{"0.0.0: 0 1"});
}

TEST(CaptureSets, ProcessesWithoutARankAreEachAlone) {
  const TempDir run;
  for (const Process& one : {Process{.pid = 10}, Process{.rank = -1, .pid = 11}, Process{.rank = -1, .pid = 12}}) {
    trace(run, one, 1);
    captures(run, one);
  }
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  ASSERT_EQ(told(sets), (Texts{"0.0.0: 0", "0.0.1: -1", "0.0.3: -1"}));
}

TEST(CaptureSets, TheMainSetIsOfMostRanks) {
  const TempDir run;
  for (const Process& one : {Process{.pid = 10}, Process{.rank = 1, .pid = 11}, Process{.pid = 12, .start_s = 2}}) {
    trace(run, one);
    captures(run, one);
  }
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  ASSERT_EQ(told(sets), (Texts{"0.0.0: 0 1", "0.0.2: 0"}));
  EXPECT_EQ(sets.main(), 0U);
}

TEST(CaptureSets, WhatHoldsNothingOrIsDamaged) {
  const TempDir run;
  const Process own{.pid = 10};
  trace(run, own);
  captures(run, own, 0, false);
  std::ofstream(run / "captures/empty.plc").close();
  const reader::Run opened = open_run(run.path());
  const CaptureSets sets = CaptureSets::open(opened);
  EXPECT_TRUE(sets.all.empty());
  EXPECT_EQ(sets.main(), 0U);
  EXPECT_EQ(sets.unused.size(), 1U);
  ASSERT_EQ(sets.damaged.size(), 1U);
  EXPECT_NE(sets.damaged[0].find("empty.plc is empty"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::reader
