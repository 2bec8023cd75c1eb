// A writer that finds no memory ends recording and not the job.
#include "recorder/out_of_memory.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"

namespace plumbline::recorder {
namespace {

using testing::run_in_child;
using testing::ScratchDirectory;

TEST(OutOfMemory, TheThreadTellsAndSleeps) {
  const int status = run_in_child([] {
    std::atomic<bool> told{false};
    std::thread writer([&] {
      const OutOfMemoryGuard guard([](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &told);
      std::get_new_handler()();
      std::_Exit(1);  // it must not come back
    });
    while (!told) std::this_thread::yield();
    writer.detach();
  });
  EXPECT_EQ(status, 0);
}

TEST(OutOfMemory, OtherThreadsFailAsTheyWouldHave) {
  const int status = run_in_child([] {
    const OutOfMemoryGuard guard([](void*) { std::_Exit(1); }, nullptr);
    std::thread([] {
      std::get_new_handler()();
      if (std::get_new_handler() != nullptr) std::_Exit(2);
    }).join();
  });
  EXPECT_EQ(status, 0);
}

TEST(OutOfMemory, AThreadIsCoveredOnlyWhileItAsksForIt) {
  const int status = run_in_child([] {
    {
      const OutOfMemoryGuard guard([](void*) { std::_Exit(1); }, nullptr);
    }
    std::get_new_handler()();
  });
  EXPECT_EQ(status, 0);
}

TEST(OutOfMemory, TheJobRunsOn) {
  const ScratchDirectory scratch;
  const int status = run_in_child([&] {
    mallopt(M_ARENA_MAX, 1);  // other arenas own address space that they have not used yet
    Settings settings;
    settings.run_directory = scratch / "run";
    settings.flush_ms = 1;
    start(settings);
    promote("step");
    push(testing::alloc_record(now_ns(), 1, 1).header);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    // No more address space than the process has by now, and a flush larger than any before.
    const rlimit limit{1 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    for (int round = 0; round < 2000 && active(); ++round) {
      for (std::uint64_t i = 0; i < 1000; ++i) push(testing::alloc_record(now_ns(), i * i * i * i, i).header);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (active()) std::_Exit(1);
    push(testing::alloc_record(now_ns(), 1, 1).header);
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  std::ifstream log(scratch / "run/plumbline.log");
  std::string line;
  ASSERT_TRUE(std::getline(log, line));
  EXPECT_NE(line.find("memory"), std::string::npos) << line;
}

}  // namespace
}  // namespace plumbline::recorder
