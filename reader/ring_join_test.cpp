// Traces of real recordings whose process was killed, or still runs: trace and ring together hold every event whose
// push() had returned, each once.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <map>
#include <new>
#include <random>
#include <thread>

#include "reader/run.hpp"
#include "reader/testing/records.hpp"
#include "recorder/recorder.hpp"

namespace plumbline::reader {
namespace {

using testing::TempDir;

constexpr std::size_t kWorkers = 3;

// What the child had got back from push(), in memory that outlives it. Worker w numbers its events from 0, in the
// size of the allocation; the address says whose it is.
struct Acknowledged {
  std::array<std::atomic<std::uint64_t>, kWorkers> counts{};
};

struct ChildOptions {
  bool short_threads = false;  // a new thread, so a ring that changes hands, every thousand events
  std::uint64_t flush_ms = 5;
};

[[noreturn]] void record_for_ever(const std::string& directory, ChildOptions options, Acknowledged& acknowledged) {
  recorder::Settings settings;
  settings.run_directory = directory;
  settings.ring_bytes = 256 << 10;
  settings.memory_bytes = 4 << 20;
  settings.flush_ms = options.flush_ms;
  recorder::start(settings);
  recorder::promote("collective");
  const auto work = [&](std::size_t worker) {
    std::uint64_t i = acknowledged.counts[worker];
    const std::uint64_t last = options.short_threads ? i + 1000 : ~std::uint64_t{0};
    while (i < last) {
      const auto record = testing::alloc(recorder::now_ns(), (worker + 1) << 20, i);
      if (recorder::push(record.header)) acknowledged.counts[worker].store(++i);
      if (i % 256 == 0) usleep(100);
    }
  };
  std::array<std::thread, kWorkers> threads;
  for (std::size_t w = 0; w < kWorkers; ++w)
    threads[w] = std::thread([&, w] {
      while (true) std::thread(work, w).join();
    });
  pause();
  _exit(1);
}

class Victim {
 public:
  Victim(const std::string& directory, ChildOptions options) {
    void* shared = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    acknowledged_ = new (shared) Acknowledged;
    pid_ = fork();
    if (pid_ == 0) record_for_ever(directory, options, *acknowledged_);
    while (std::any_of(acknowledged_->counts.begin(), acknowledged_->counts.end(),
                       [](const auto& count) { return count < 100; }))
      usleep(1000);
  }
  ~Victim() {
    kill();
    munmap(acknowledged_, sizeof(Acknowledged));
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  std::array<std::uint64_t, kWorkers> acknowledged() const {
    std::array<std::uint64_t, kWorkers> counts{};
    for (std::size_t w = 0; w < kWorkers; ++w) counts[w] = acknowledged_->counts[w];
    return counts;
  }

 private:
  Acknowledged* acknowledged_;
  pid_t pid_;
};

// How many events of each worker a trace has. None may be missing in between, and none may come twice.
std::array<std::uint64_t, kWorkers> count_whole(const Trace& trace) {
  std::array<std::vector<std::uint64_t>, kWorkers> numbers;
  trace.read({.kinds = kAllocations}, [&](const FrameView& frame) {
    for (const AllocationBatch& batch : frame.allocations)
      for (std::size_t i = 0; i < batch.count; ++i) numbers[(batch.address[i] >> 20) - 1].push_back(batch.size[i]);
    return true;
  });
  std::array<std::uint64_t, kWorkers> counts{};
  for (std::size_t w = 0; w < kWorkers; ++w) {
    std::sort(numbers[w].begin(), numbers[w].end());
    for (std::size_t i = 0; i < numbers[w].size(); ++i)
      if (numbers[w][i] != i) {
        ADD_FAILURE() << "worker " << w << ": event " << i << " is missing or there twice";
        return counts;
      }
    counts[w] = numbers[w].size();
  }
  return counts;
}

void expect_all(const Trace& trace, const std::array<std::uint64_t, kWorkers>& acknowledged) {
  const auto counts = count_whole(trace);
  for (std::size_t w = 0; w < kWorkers; ++w) {
    EXPECT_GE(counts[w], acknowledged[w]);
    EXPECT_LE(counts[w], acknowledged[w] + 1) << "pushed, but not yet noted when the process died";
  }
}

TEST(RingJoinTest, NothingIsLostByAKill) {
  std::mt19937 random(7);
  for (int i = 0; i < 10; ++i) {
    TempDir directory;
    Victim victim(directory / "run", {});
    usleep(random() % 60'000);
    victim.kill();
    const reader::Run run = testing::open_run(directory / "run");
    ASSERT_EQ(run.traces().size(), 1u);
    expect_all(run.traces()[0], victim.acknowledged());
    for (const char* loss : {"frames_damaged", "rings_damaged", "messages_malformed", "ring_missing"})
      EXPECT_EQ(run.stats().value(loss), 0u) << loss;
    EXPECT_EQ(run.traces()[0].exit(), nullptr);
  }
}

TEST(RingJoinTest, RingsThatChangeHandsLoseNothing) {
  std::mt19937 random(8);
  for (int i = 0; i < 10; ++i) {
    TempDir directory;
    Victim victim(directory / "run", {.short_threads = true});
    usleep(random() % 100'000);
    victim.kill();
    const reader::Run run = testing::open_run(directory / "run");
    ASSERT_EQ(run.traces().size(), 1u);
    expect_all(run.traces()[0], victim.acknowledged());
  }
}

TEST(RingJoinTest, AKillBeforeTheFirstFlushLeavesOnlyTheRing) {
  TempDir directory;
  Victim victim(directory / "run", {.flush_ms = 3'600'000});
  victim.kill();
  const reader::Run run = testing::open_run(directory / "run");
  ASSERT_EQ(run.traces().size(), 1u);
  expect_all(run.traces()[0], victim.acknowledged());
  EXPECT_EQ(run.traces()[0].ring_join(), RingJoin::kJoined);
}

TEST(RingJoinTest, ARunThatGrowsIsReadAsOfItsOpening) {
  TempDir directory;
  Victim victim(directory / "run", {.flush_ms = 2});
  // Few readings: each finds what was written during the one before, which is much where reading is slow.
  for (int i = 0; i < 6; ++i) {
    const auto before = victim.acknowledged();
    const reader::Run run = testing::open_run(directory / "run");
    ASSERT_EQ(run.traces().size(), 1u);
    const auto counts = count_whole(run.traces()[0]);
    for (std::size_t w = 0; w < kWorkers; ++w) EXPECT_GE(counts[w], before[w]);
    usleep(3000);
    EXPECT_EQ(count_whole(run.traces()[0]), counts) << "a second reading gives the same";
  }
}

TEST(RingJoinTest, ARenamedTraceFindsItsRing) {
  TempDir directory;
  Victim victim(directory / "run", {});
  victim.kill();
  for (const auto& entry : std::filesystem::directory_iterator(directory / "run"))
    if (entry.path().extension() == ".plt") std::filesystem::rename(entry.path(), directory / "run/renamed.plt");
  const reader::Run whole = testing::open_run(directory / "run");
  ASSERT_EQ(whole.traces().size(), 1u);
  expect_all(whole.traces()[0], victim.acknowledged());
  const reader::Run single = testing::open_run(directory / "run/renamed.plt");
  expect_all(single.traces()[0], victim.acknowledged());
}

TEST(RingJoinTest, HooksAreCountedUpToTheKill) {
  TempDir directory;
  const pid_t child = fork();
  if (child == 0) {
    recorder::Settings settings;
    settings.run_directory = directory / "run";
    settings.flush_ms = 5;
    recorder::hook_state(3, "some hook", true, "");
    recorder::start(settings);
    recorder::promote("collective");
    for (int i = 0; i < 1000; ++i) {
      recorder::push(testing::alloc(recorder::now_ns(), 16, 16).header);
      recorder::hook_fired(3);
      // Time for the writer to note the hook's first firings, but not its last.
      if (i == 500) usleep(100'000);
    }
    ::kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const reader::Run run = testing::open_run(directory / "run");
  ASSERT_EQ(run.traces().size(), 1u);
  const auto& hooks = run.traces()[0].definitions().hooks;
  const auto hook = std::find_if(hooks.begin(), hooks.end(), [](const HookCount& h) { return h.name == "some hook"; });
  ASSERT_NE(hook, hooks.end());
  EXPECT_EQ(hook->fired, 1000u);
}

TEST(RingJoinTest, ACallInFlightIsEvidence) {
  TempDir directory;
  const pid_t child = fork();
  if (child == 0) {
    recorder::Settings settings;
    settings.run_directory = directory / "run";
    recorder::start(settings);
    recorder::promote("collective");
    recorder::push(testing::collective({.time_ns = recorder::now_ns(), .id = 5}).header);
    recorder::set_in_flight(Kind::kCollective, 0, recorder::now_ns(), 5);
    ::kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const reader::Run run = testing::open_run(directory / "run");
  ASSERT_EQ(run.traces().size(), 1u);
  ASSERT_EQ(run.traces()[0].in_flight().size(), 1u);
  EXPECT_EQ(run.traces()[0].in_flight()[0].what, Kind::kCollective);
  EXPECT_EQ(run.traces()[0].in_flight()[0].id_or_size, 5u);
}

}  // namespace
}  // namespace plumbline::reader
