// A process that is killed loses nothing whose push() had returned.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
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

// A process that pushes from its birth to its death.
class Victim {
 public:
  Victim(const std::string& directory, std::uint64_t max_trace_bytes) {
    void* shared = mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    acknowledged_ = new (shared) Acknowledged;
    pid_ = fork();
    if (pid_ == 0) push_until_killed(directory, max_trace_bytes, *acknowledged_);
    while (!acknowledged_->running) std::this_thread::yield();
  }
  ~Victim() { munmap(acknowledged_, sizeof(Acknowledged)); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void kill_after(std::chrono::microseconds delay) {
    std::this_thread::sleep_for(delay);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Counts of the threads that had got something back.
  std::multiset<std::uint64_t> promised() const {
    std::multiset<std::uint64_t> counts;
    for (const auto& count : acknowledged_->counts) {
      if (count != 0) counts.insert(count);
    }
    return counts;
  }

 private:
  Acknowledged* acknowledged_ = nullptr;
  pid_t pid_ = -1;
};

std::chrono::microseconds up_to(int microseconds, std::mt19937& random) {
  return std::chrono::microseconds(std::uniform_int_distribution<>(0, microseconds)(random));
}

void kill_and_check(std::mt19937& random) {
  const ScratchDirectory scratch;
  Victim victim(scratch / "run", std::uint64_t{1} << 40);
  victim.kill_after(up_to(60'000, random));

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
  const std::multiset<std::uint64_t> promised = victim.promised();
  // A thread may have died between push() and its note of it: then it has one more, or its first.
  ASSERT_GE(found.size(), promised.size());
  while (found.size() > promised.size()) {
    ASSERT_EQ(*found.begin(), 1u);
    found.erase(found.begin());
  }
  for (auto f = found.begin(), p = promised.begin(); f != found.end(); ++f, ++p) {
    EXPECT_GE(*f, *p);
    EXPECT_LE(*f, *p + 1);
  }
}

TEST(Kill, AtAnyMomentLosesNothing) {
  std::mt19937 random(20260101);
  for (int i = 0; i < 50 && !HasFatalFailure(); ++i) kill_and_check(random);
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// With a small cap the writer is busy with evictions when the signal comes: the newest events must be whole all the
// same.
TEST(Kill, DuringEvictionsKeepsTheNewest) {
  std::mt19937 random(7);
  for (int i = 0; i < 10; ++i) {
    const ScratchDirectory scratch;
    Victim victim(scratch / "run", 20'000);
    const std::string path = only_file(scratch / "run", ".plt");
    const ino_t first = inode_of(path);
    while (inode_of(path) == first) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    victim.kill_after(up_to(50'000, random));

    testing::TraceContents trace = testing::read_trace(path);
    EXPECT_EQ(trace.evicted.size(), 1u);
    const auto rest = testing::read_ring(only_file(scratch / "run", ".ring"), trace);
    trace.events.insert(trace.events.end(), rest.begin(), rest.end());
    std::map<std::uint32_t, std::uint64_t> last;
    for (const testing::Event& event : trace.events) {
      if (event.kind != Kind::kSample) last[event.ring] = std::max(last[event.ring], event.a + 1);
    }
    std::uint64_t found = 0;
    for (const auto& [ring, count] : last) found += count;
    std::uint64_t promised = 0;
    for (const std::uint64_t count : victim.promised()) promised += count;
    EXPECT_GE(found, promised);
    EXPECT_LE(found, promised + kThreads);
  }
}

}  // namespace
}  // namespace plumbline::recorder
