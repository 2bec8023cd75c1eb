// A process that is killed loses nothing whose push() had returned.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::only_file;
using testing::ScratchDirectory;

constexpr int kThreads = 3;

// What the victim had got back from push() when it died, in memory that outlives it.
struct Acknowledged {
  std::array<std::atomic<std::uint64_t>, kThreads> counts{};
  std::atomic<bool> running{false};
};

void push_until_killed(const std::string& directory, std::uint64_t max_trace_bytes, Acknowledged& acknowledged) {
  Settings settings;
  settings.run_directory = directory;
  settings.ring_bytes = 64 << 10;
  settings.memory_bytes = 1 << 20;
  settings.flush_ms = 1;
  settings.max_trace_bytes = max_trace_bytes;
  start(settings);
  promote("collective");
  std::array<std::thread, kThreads> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads[t] = std::thread([&, t] {
      for (std::uint64_t i = 0;;) {
        // Records of one and of four slots, so that some of them meet the end of the ring.
        const bool pushed = i % 3 == 0 ? push(testing::collective_record(now_ns(), i).header)
                                       : push(testing::alloc_record(now_ns(), i, t).header);
        if (pushed) acknowledged.counts[t].store(++i, std::memory_order_relaxed);
        acknowledged.running.store(true, std::memory_order_relaxed);
        if (!pushed) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the writer has to catch up
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void kill_and_check(std::mt19937& random, std::uint64_t max_trace_bytes) {
  const ScratchDirectory scratch;
  void* shared = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& acknowledged = *new (shared) Acknowledged;
  const pid_t victim = fork();
  if (victim == 0) push_until_killed(scratch / "run", max_trace_bytes, acknowledged);
  while (!acknowledged.running) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 60'000)(random)));
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);

  // A frame holds the kinds one after the other: the numbers of a thread are complete, not in order.
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
  for (const testing::Event& event :
       testing::all_events(only_file(scratch / "run", ".plt"), only_file(scratch / "run", ".ring"))) {
    if (event.kind != Kind::kSample) numbers[event.ring].push_back(event.a);
  }
  std::multiset<std::uint64_t> found;
  for (auto& [ring, values] : numbers) {
    std::sort(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], i) << "ring " << ring;
    found.insert(values.size());
  }
  std::multiset<std::uint64_t> promised;
  for (const auto& count : acknowledged.counts) {
    if (count != 0) promised.insert(count);
  }
  // A thread may have died between push() and its note of it.
  ASSERT_EQ(found.size(), promised.size());
  for (auto f = found.begin(), p = promised.begin(); f != found.end(); ++f, ++p) {
    EXPECT_GE(*f, *p);
    EXPECT_LE(*f, *p + 1);
  }
  munmap(shared, sizeof(Acknowledged));
}

TEST(Kill, AtAnyMomentLosesNothing) {
  std::mt19937 random(20260101);
  for (int i = 0; i < 50 && !HasFatalFailure(); ++i) kill_and_check(random, std::uint64_t{1} << 40);
}

// With a small cap the writer is busy with evictions when the signal comes: the newest events must be whole all the
// same.
TEST(Kill, DuringEvictionsKeepsTheNewest) {
  const ScratchDirectory scratch;
  std::mt19937 random(7);
  for (int i = 0; i < 10; ++i) {
    const std::string directory = scratch / std::to_string(i);
    void* shared = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& acknowledged = *new (shared) Acknowledged;
    const pid_t victim = fork();
    if (victim == 0) push_until_killed(directory, 20'000, acknowledged);
    while (!acknowledged.running) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(200'000, 400'000)(random)));
    kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);

    testing::TraceContents trace = testing::read_trace(only_file(directory, ".plt"));
    ASSERT_FALSE(trace.evicted.empty());
    const auto rest = testing::read_ring(only_file(directory, ".ring"), trace);
    trace.events.insert(trace.events.end(), rest.begin(), rest.end());
    std::map<std::uint32_t, std::uint64_t> last;
    for (const testing::Event& event : trace.events) last[event.ring] = std::max(last[event.ring], event.a + 1);
    std::uint64_t promised = 0;
    for (const auto& count : acknowledged.counts) promised += count;
    std::uint64_t found = 0;
    for (const auto& [ring, count] : last) found += count;
    EXPECT_GE(found, promised);
    EXPECT_LE(found, promised + kThreads);
    munmap(shared, sizeof(Acknowledged));
  }
}

}  // namespace
}  // namespace plumbline::recorder
