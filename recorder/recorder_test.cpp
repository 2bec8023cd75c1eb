// The life of a recorder: what is on disk after each way through it.
#include "recorder/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "recorder/stack_source.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::alloc_record;
using testing::files_in;
using testing::only_file;
using testing::read_trace;
using testing::run_in_child;
using testing::ScratchDirectory;
using testing::TraceContents;

Settings settings_in(const std::string& directory) {
  Settings settings;
  settings.run_directory = directory;
  return settings;
}

void push_allocations(int count) {
  for (int i = 0; i < count; ++i) push(alloc_record(now_ns(), 0x1000u + static_cast<unsigned>(i) * 64u, 64).header);
}

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Recorder, IsInactiveUntilStarted) {
  EXPECT_FALSE(active());
  EXPECT_FALSE(promoted());
  EXPECT_EQ(level(), Level::kOff);
  EXPECT_FALSE(push(alloc_record(1, 1, 1).header));
  promote("nothing");
  hook_fired(0);
  fact("key", "value");
  set_in_flight(Kind::kAllocFailed, 0, 1, 1);
  clear_in_flight();
  stop(0, 0);
  EXPECT_FALSE(active());
}

TEST(Recorder, ATrainingProcessLeavesACompleteTrace) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
    setenv("TORCHELASTIC_RESTART_COUNT", "1", 1);
    if (!start(settings_in(scratch / "run"))) return;
    fact("torch", "2.11.0");
    hook_state(0, "c10::alloc_cpu", true, "");
    push_allocations(1000);
    for (int i = 0; i < 1000; ++i) hook_fired(0);
    promote("collective");
    push_allocations(1000);
    set_exception("ValueError", "bad shape");
    stop(1, 0);
  });
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  EXPECT_EQ(trace.events.size(), 2000u);
  EXPECT_TRUE(trace.has_exit);
  EXPECT_TRUE(trace.has_seek_table);
  EXPECT_EQ(trace.exit_status, 1);
  EXPECT_EQ(trace.exception_class, "ValueError");
  EXPECT_EQ(trace.exception_message, "bad shape");
  ASSERT_EQ(trace.processes.size(), 2u);
  EXPECT_EQ(trace.processes.back().rank, 3);
  EXPECT_EQ(trace.processes.back().world_size, 8);
  EXPECT_EQ(trace.processes.back().attempt, 1);
  EXPECT_TRUE(trace.processes.back().ring_name.starts_with("rank3-a1-"));
  EXPECT_EQ(trace.hooks.at("c10::alloc_cpu"), 1000u);
  EXPECT_EQ(trace.facts.find("torch")->second, "2.11.0");
  EXPECT_EQ(trace.facts.find("promoted")->second, "collective");
  // The trace alone: the ring has nothing more to say, and nothing was worth a line in the log.
  EXPECT_EQ(files_in(scratch / "run").size(), 1u);
}

TEST(Recorder, AProcessThatDoesNotTrainLeavesNothing) {
  const ScratchDirectory scratch;
  Settings settings = settings_in(scratch / "run");
  settings.complaints.emplace_back("PLUMBLINE_COLOUR is not a setting of Plumbline");
  run_in_child([&] {
    start(settings);
    push_allocations(1000);
    stop(0, 0);
  });
  EXPECT_FALSE(std::filesystem::exists(scratch / "run"));
}

TEST(Recorder, APendingProcessHidesItsFiles) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    start(settings_in(scratch / "run"));
    push_allocations(10);
  });
  const auto files = files_in(scratch / "run");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(files[0].starts_with(".pending-") && files[0].ends_with(".plt"));
  EXPECT_TRUE(files[1].starts_with(".pending-") && files[1].ends_with(".ring"));
}

TEST(Recorder, ANameThatIsTakenGetsASuffix) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    start(settings_in(scratch / "run"));
    push_allocations(10);
    promote("step");
    const std::string mine = only_file(scratch / "run", ".plt");
    stop(0, 0);
    // The same process again, as after an exec: same host, same pid, same rank.
    fork_child();
    start(settings_in(scratch / "run"));
    push_allocations(20);
    promote("step");
    stop(0, 0);
  });
  const auto files = files_in(scratch / "run");
  ASSERT_EQ(files.size(), 2u);
  const std::string stem = files[1].substr(0, files[1].size() - 4);
  EXPECT_EQ(files[0], stem + ".1.plt");
  EXPECT_EQ(read_trace(scratch / ("run/" + files[1])).events.size(), 10u);
  EXPECT_EQ(read_trace(scratch / ("run/" + files[0])).events.size(), 20u);
}

TEST(Recorder, WithoutARankInTheEnvironmentTheGroupSaysIt) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    unsetenv("RANK");
    start(settings_in(scratch / "run"));
    define_group("pp", "", "gloo", "4,6", 1, 2, 0);
    promote("collective");
    stop(0, 0);
  });
  EXPECT_TRUE(files_in(scratch / "run").front().starts_with("rank6-a0-"));
}

TEST(Recorder, WithoutAnyRankTheNameSaysProc) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    start(settings_in(scratch / "run"));
    promote("step");
    stop(0, 0);
  });
  EXPECT_TRUE(files_in(scratch / "run").front().starts_with("proc-"));
}

TEST(Recorder, EventsAfterTheEndAreIgnored) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    start(settings_in(scratch / "run"));
    push_allocations(10);
    promote("step");
    stop(0, 0);
    push_allocations(10);
    stop(5, 0);
    if (active() || start(settings_in(scratch / "other"))) std::_Exit(1);
  });
  EXPECT_EQ(status, 0);
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  EXPECT_EQ(trace.events.size(), 10u);
  EXPECT_EQ(trace.exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch / "other"));
}

TEST(Recorder, StopIsSafeWhileThreadsPush) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    start(settings_in(scratch / "run"));
    promote("step");
    std::atomic<bool> end{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        // With pauses, in which the writer gets a processor however slow it is.
        while (!end) {
          push_allocations(10);
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop(0, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    end = true;
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(read_trace(only_file(scratch / "run", ".plt")).has_exit);
}

TEST(Recorder, DisabledMeansNothingHappens) {
  const ScratchDirectory scratch;
  Settings settings = settings_in(scratch / "run");
  settings.disabled = true;
  run_in_child([&] {
    if (start(settings)) std::ofstream(scratch / "started");
    promote("step");
    stop(0, 0);
  });
  EXPECT_TRUE(files_in(scratch.path()).empty());
}

TEST(Recorder, ComplaintsReachTheLogOfATrainingProcess) {
  const ScratchDirectory scratch;
  Settings settings = settings_in(scratch / "run");
  settings.complaints.emplace_back("PLUMBLINE_COLOUR is not a setting of Plumbline");
  run_in_child([&] {
    start(settings);
    promote("step");
    stop(0, 0);
  });
  EXPECT_NE(slurp(scratch / "run/plumbline.log").find("PLUMBLINE_COLOUR"), std::string::npos);
}

TEST(Recorder, TheControlFileTurnsRecordingOffAndOn) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    start(settings_in(scratch / "run"));
    promote("step");
    push_allocations(10);
    const auto wait_for = [](bool wanted) {
      for (int i = 0; i < 500 && active() != wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (active() != wanted) std::_Exit(1);
    };
    std::ofstream(scratch / "run/control") << "level = \"off\"\n";
    wait_for(false);
    push_allocations(100);
    std::ofstream(scratch / "run/control") << "level = \"diagnose\"\n";
    wait_for(true);
    if (level() != Level::kDiagnose) std::_Exit(2);
    push_allocations(1);
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  std::size_t allocations = 0;
  for (const auto& event : trace.events) allocations += event.kind == Kind::kAlloc;
  EXPECT_EQ(allocations, 11u);
  EXPECT_EQ(trace.facts.count("level"), 2u);
}

TEST(Recorder, MemoryIsSampled) {
  const ScratchDirectory scratch;
  run_in_child([&] {
    start(settings_in(scratch / "run"));
    promote("step");
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    stop(0, 0);
  });
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  ASSERT_FALSE(trace.events.empty());
  EXPECT_EQ(trace.events.front().kind, Kind::kSample);
  EXPECT_EQ(trace.events.front().tag, static_cast<std::uint64_t>(Counter::kResidentBytes));
  EXPECT_GT(trace.events.front().a, 1u << 20);
  EXPECT_EQ(trace.threads.at(trace.events.front().ring), "plumbline-write");
  std::size_t waits = 0;
  for (const auto& event : trace.events)
    waits += event.tag == static_cast<std::uint64_t>(Counter::kProcessorWaitNs) ? 1 : 0;
  EXPECT_GE(waits, 1u);
  EXPECT_EQ(trace.facts.count("processor.wait_ns"), 1u);
}

TEST(Recorder, AStalledTrainingThreadIsLookedAt) {
  const ScratchDirectory scratch;
  Settings settings = settings_in(scratch / "run");
  settings.stall_ns = 1'000'000'000;
  static constexpr StackSource kSource = {
      [](std::uint64_t stalled_ns, std::uint32_t thread, Definitions& to) {
        to.add_stack({now_ns(), thread, "all", StackReason::kStall, stalled_ns, {}, {}, kTrainingThread});
      },
      [](Definitions&) { return false; },
      [] {},
  };
  run_in_child([&] {
    set_stack_source(kSource);
    start(settings);
    push_allocations(10);
    promote("step");
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      push_allocations(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    std::_Exit(0);  // without a stop: the stacks are on disk even so
  });
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  ASSERT_GE(trace.stacks.size(), 1u);  // a busy machine may see the stall twice
  EXPECT_GE(trace.stacks[0].detail, 1'000'000'000u);
  EXPECT_NE(trace.stacks[0].tid, 0u);
}

TEST(Recorder, StacksThatThreadsLeaveAreWrittenAtOnce) {
  const ScratchDirectory scratch;
  static std::atomic<int> left{0};
  static std::atomic<int> written{0};
  static constexpr StackSource kSource = {
      [](std::uint64_t, std::uint32_t, Definitions&) {},
      [](Definitions& to) {
        if (left.exchange(0) == 0) return false;
        to.add_stack({now_ns(), 5, "left", StackReason::kFatalSignal, 11, {}, {{0x1234}}, 0});
        return true;
      },
      [] { ++written; },
  };
  const int status = run_in_child([&] {
    set_stack_source(kSource);
    start(settings_in(scratch / "run"));
    promote("step");
    left = 1;
    for (int i = 0; i < 200 && written == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::_Exit(written == 1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  const TraceContents trace = read_trace(only_file(scratch / "run", ".plt"));
  ASSERT_EQ(trace.stacks.size(), 1u);
  EXPECT_EQ(trace.stacks[0].native, (std::vector<std::uint64_t>{0x1234}));
}

TEST(Recorder, IdsCountFromOne) {
  run_in_child([] {
    if (next_id() != 1 || next_id() != 2) std::_Exit(1);
  });
}

}  // namespace
}  // namespace plumbline::recorder
