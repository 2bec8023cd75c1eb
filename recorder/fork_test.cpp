// fork() in the middle of recording: the parent goes on, the child starts from nothing.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::files_in;
using testing::read_trace;
using testing::run_in_child;
using testing::ScratchDirectory;

void push_allocations(int count) {
  for (int i = 0; i < count; ++i) push(testing::alloc_record(now_ns(), static_cast<std::uint64_t>(i), 1).header);
}

// As the preload object does.
void install_fork_handlers() { pthread_atfork(fork_prepare, fork_parent, fork_child); }

std::vector<std::size_t> events_of_each_trace(const std::string& directory) {
  std::vector<std::size_t> counts;
  for (const std::string& name : files_in(directory)) {
    if (!name.ends_with(".plt")) continue;
    const auto trace = read_trace(directory + "/" + name);
    EXPECT_TRUE(trace.has_exit) << name;
    std::size_t allocations = 0;
    for (const auto& event : trace.events) allocations += event.kind == Kind::kAlloc;
    counts.push_back(allocations);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

Settings settings_in(const std::string& directory) {
  Settings settings;
  settings.run_directory = directory;
  settings.flush_ms = 1;
  return settings;
}

TEST(Fork, TheChildIsIdleAndLeavesTheParentAlone) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    install_fork_handlers();
    start(settings_in(scratch / "run"));
    promote("step");
    push_allocations(100);
    const int child = run_in_child([] {
      push_allocations(1000);  // ignored: the thread's ring was the parent's
      hook_fired(0);
      set_in_flight(Kind::kAllocFailed, 0, 1, 1);
      clear_in_flight();
      stop(9, 0);
      std::thread([] { push_allocations(10); }).join();
      if (active()) std::_Exit(1);
    });
    if (child != 0) std::_Exit(1);
    push_allocations(100);
    stop(0, 0);
  });
  ASSERT_EQ(status, 0);
  EXPECT_EQ(events_of_each_trace(scratch / "run"), std::vector<std::size_t>{200});
}

TEST(Fork, AChildThatTrainsRecordsIntoFilesOfItsOwn) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    install_fork_handlers();
    start(settings_in(scratch / "run"));
    promote("step");
    push_allocations(100);
    const std::uint64_t name = text_id("known to the parent");
    const int child = run_in_child([&] {
      start(settings_in(scratch / "run"));
      promote("step");
      text_id("known to the parent");
      push(testing::range_record(Kind::kRangeBegin, now_ns(), name, 1).header);
      push_allocations(7);
      stop(0, 0);
    });
    if (child != 0) std::_Exit(1);
    push_allocations(100);
    stop(0, 0);
  });
  ASSERT_EQ(status, 0);
  EXPECT_EQ(events_of_each_trace(scratch / "run"), (std::vector<std::size_t>{7, 200}));
  for (const std::string& file : files_in(scratch / "run")) {
    const auto trace = read_trace(scratch / ("run/" + file));
    EXPECT_FALSE(trace.undefined_use) << "a text must be defined in each trace that uses it";
  }
}

TEST(Fork, InTheMiddleOfRecordingManyTimes) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    install_fork_handlers();
    start(settings_in(scratch / "run"));
    promote("step");
    std::atomic<bool> end{false};
    std::atomic<std::uint64_t> pushed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!end) {
          if (push(testing::alloc_record(now_ns(), 1, 1).header)) ++pushed;
          std::this_thread::sleep_for(std::chrono::microseconds(10));
        }
      });
    }
    bool fine = true;
    for (int i = 0; i < 40; ++i) {
      const int child = run_in_child([&] {
        push_allocations(100);
        if (i % 4 != 0) return;
        start(settings_in(scratch / "run"));  // a worker that allocates, but never trains
        push_allocations(100);
        stop(0, 0);
      });
      fine = fine && child == 0;
    }
    end = true;
    for (std::thread& thread : threads) thread.join();
    fact("pushed", std::to_string(pushed));
    stop(0, 0);
    if (!fine) std::_Exit(1);
  });
  ASSERT_EQ(status, 0);
  ASSERT_EQ(files_in(scratch / "run").size(), 1u);
  const auto trace = read_trace(scratch / ("run/" + files_in(scratch / "run").front()));
  EXPECT_EQ(std::to_string(events_of_each_trace(scratch / "run").front()), trace.facts.find("pushed")->second);
}

}  // namespace
}  // namespace plumbline::recorder
