#include "recorder/processor_wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace plumbline::recorder {
namespace {

using Clock = std::chrono::steady_clock;

std::uint32_t this_thread() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

void spin(std::chrono::milliseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

TEST(ProcessorWait, TwoThreadsOnOneProcessorWaitForEachOther) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> over{false};
  std::thread rival([&] {
    while (!over.load()) spin(std::chrono::milliseconds(1));
  });
  const auto start = processor_wait_ns(this_thread());
  spin(std::chrono::milliseconds(300));
  const auto end = processor_wait_ns(this_thread());
  over = true;
  rival.join();
  sched_setaffinity(0, sizeof before, &before);
  ASSERT_TRUE(start && end);
  EXPECT_GT(*end - *start, 50'000'000U);
}

TEST(ProcessorWait, NothingOfAThreadThatIsNotThere) { EXPECT_FALSE(processor_wait_ns((1U << 22) + 77)); }

}  // namespace
}  // namespace plumbline::recorder
