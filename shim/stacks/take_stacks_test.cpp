// Stacks of all threads of this process, by way of a trace.
#include "shim/stacks/take_stacks.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "recorder/testing/trace_contents.hpp"
#include "shim/stacks/left_stacks.hpp"

namespace plumbline::shim::stacks {
namespace {

using recorder::testing::StackRow;

std::uint32_t own_tid() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

[[gnu::noinline]] void spin_until(const std::atomic<bool>& end) {
  while (!end.load(std::memory_order_relaxed)) asm volatile("");
}

// Threads that each do one thing until the end.
class TakeStacksTest : public ::testing::Test {
 protected:
  ~TakeStacksTest() override { finish(); }

  template <class Function>
  void run(const char* name, Function&& function) {
    std::atomic<std::uint32_t> tid{0};
    threads_.emplace_back([&tid, name, function] {
      pthread_setname_np(pthread_self(), name);
      tid = own_tid();
      function();
    });
    while (tid == 0) usleep(100);
    usleep(20'000);  // into what it is to be found in
  }
  void finish() {
    end_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::vector<StackRow> take() {
    recorder::Definitions definitions;
    stack_source().take_all(2'000'000'000, own_tid(), definitions);
    return rows_of(definitions);
  }
  std::vector<StackRow> rows_of(recorder::Definitions& definitions) {
    recorder::MessageBuffer buffer;
    definitions.append_to(buffer);
    return recorder::testing::read_messages(buffer).stacks;
  }
  static const StackRow* named(const std::vector<StackRow>& rows, std::string_view name) {
    const auto it =
        std::find_if(rows.begin(), rows.end(), [&](const StackRow& row) { return row.thread_name == name; });
    return it == rows.end() ? nullptr : &*it;
  }

  std::atomic<bool> end_{false};
  std::vector<std::thread> threads_;
};

TEST_F(TakeStacksTest, OfARunningAndOfASleepingThread) {
  run("spinner", [this] { spin_until(end_); });
  run("sleeper", [this] {
    while (!end_) usleep(50'000);
  });
  const std::vector<StackRow> rows = take();
  const StackRow* const spinner = named(rows, "spinner");
  ASSERT_NE(spinner, nullptr);
  EXPECT_GE(spinner->native.size(), 3u);
  EXPECT_EQ(spinner->flags & recorder::kIdle, 0u);
  EXPECT_EQ(spinner->detail, 2'000'000'000u);
  const auto function = reinterpret_cast<std::uint64_t>(&spin_until);
  const bool found = std::any_of(spinner->native.begin(), spinner->native.end(),
                                 [&](std::uint64_t pc) { return pc >= function && pc < function + 64; });
  EXPECT_TRUE(found);
  const StackRow* const sleeper = named(rows, "sleeper");
  ASSERT_NE(sleeper, nullptr);
  EXPECT_GE(sleeper->native.size(), 3u);
  EXPECT_NE(sleeper->flags & recorder::kIdle, 0u);
  // Not of the thread that takes them.
  EXPECT_TRUE(std::none_of(rows.begin(), rows.end(), [](const StackRow& row) { return row.tid == own_tid(); }));
}

TEST_F(TakeStacksTest, NoWaitEndsEarly) {
  std::atomic<int> interrupted{0};
  run("poller", [&] {
    if (poll(nullptr, 0, 600) != 0) ++interrupted;
  });
  run("napper", [&] {
    timespec nap{0, 600'000'000};
    if (nanosleep(&nap, nullptr) != 0) ++interrupted;
  });
  for (int i = 0; i < 20; ++i) take();
  finish();
  EXPECT_EQ(interrupted, 0);
}

// A thread that is woken again and again is often seen on its way out of a wait.
TEST_F(TakeStacksTest, ShortWaitsDoNotEndEarlyEither) {
  std::atomic<int> interrupted{0};
  for (const char* const name : {"ticker1", "ticker2", "ticker3", "ticker4"}) {
    run(name, [&] {
      while (!end_.load(std::memory_order_relaxed))
        if (poll(nullptr, 0, 1) != 0) ++interrupted;
    });
  }
  for (int i = 0; i < 40; ++i) take();
  finish();
  EXPECT_EQ(interrupted, 0);
}

TEST_F(TakeStacksTest, RunningThreadsKeepTheirErrno) {
  std::atomic<int> changed{0};
  run("errno", [&] {
    errno = 77;
    while (!end_.load(std::memory_order_relaxed)) {
      if (errno != 77) ++changed;
    }
  });
  for (int i = 0; i < 20; ++i) take();
  finish();
  EXPECT_EQ(changed, 0);
}

TEST_F(TakeStacksTest, AStackThatAThreadHasLeft) {
  recorder::Definitions definitions;
  EXPECT_FALSE(stack_source().take_left(definitions));
  LeftStack* const left = claim_left_stack();
  ASSERT_NE(left, nullptr);
  ucontext_t context;
  getcontext(&context);
  left->fill(recorder::StackReason::kLargeAllocation, 1 << 30, from_context(context));
  left->state = LeftStack::State::kReady;
  EXPECT_TRUE(stack_source().take_left(definitions));
  EXPECT_EQ(left->state, LeftStack::State::kReady);
  stack_source().left_written();
  EXPECT_EQ(left->state, LeftStack::State::kFree);
  const std::vector<StackRow> rows = rows_of(definitions);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tid, own_tid());
  EXPECT_EQ(rows[0].reason, 2u);
  EXPECT_EQ(rows[0].detail, 1u << 30);
  EXPECT_GE(rows[0].native.size(), 5u);
}

TEST_F(TakeStacksTest, PlacesForLeftStacksAreFew) {
  for (std::size_t i = 0; i < left_stacks.size(); ++i) EXPECT_NE(claim_left_stack(), nullptr);
  EXPECT_EQ(claim_left_stack(), nullptr);
  forget_left_stacks();
  EXPECT_NE(claim_left_stack(), nullptr);
  forget_left_stacks();
}

}  // namespace
}  // namespace plumbline::shim::stacks
