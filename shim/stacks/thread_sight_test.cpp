#include "shim/stacks/thread_sight.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

namespace plumbline::shim::stacks {
namespace {

constexpr int kSignal = 40;

ThreadSight in_call(int number, std::array<std::uint64_t, 6> arguments = {}) {
  ThreadSight sight;
  sight.in_system_call = true;
  sight.system_call = number;
  sight.arguments = arguments;
  return sight;
}

TEST(ThreadSight, ParsesTheKernelsLine) {
  ThreadSight sight;
  parse_system_call("202 0x7f1 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd10 0x7f93\n", sight);
  EXPECT_TRUE(sight.in_system_call);
  EXPECT_EQ(sight.system_call, 202);
  EXPECT_EQ(sight.arguments[0], 0x7f1u);
  EXPECT_EQ(sight.arguments[5], 0xffffffffu);
  EXPECT_EQ(sight.registers.sp(), 0x7ffd10u);
  EXPECT_EQ(sight.registers.pc(), 0x7f93u);
  EXPECT_FALSE(sight.registers.has(6));
}

TEST(ThreadSight, ARunningThreadIsInNoCall) {
  for (const char* const text : {"running\n", "-1 0x7ffd10 0x7f93\n", "", "202 0x7f1", "nonsense"}) {
    ThreadSight sight;
    parse_system_call(text, sight);
    EXPECT_FALSE(sight.in_system_call) << text;
  }
}

TEST(ThreadSight, SeesAThreadOfThisProcess) {
  std::atomic<std::uint32_t> tid{0};
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  std::thread reader([&] {
    pthread_setname_np(pthread_self(), "a-reader");
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, kSignal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
    char byte;
    EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
  });
  std::optional<ThreadSight> sight;
  for (int i = 0; i < 1000 && !(sight && sight->system_call == SYS_read); ++i) {
    usleep(1000);
    if (tid != 0) sight = look_at(tid);
  }
  ASSERT_TRUE(sight.has_value());
  EXPECT_EQ(sight->name, "a-reader");
  EXPECT_EQ(sight->system_call, SYS_read);
  EXPECT_EQ(sight->arguments[0], static_cast<std::uint64_t>(pipe_ends[0]));
  EXPECT_FALSE(may_interrupt(*sight, kSignal));  // it blocks the signal
  EXPECT_TRUE(may_interrupt(*sight, kSignal + 1));
  const auto ids = thread_ids();
  EXPECT_NE(std::find(ids.begin(), ids.end(), tid.load()), ids.end());
  EXPECT_EQ(write(pipe_ends[1], "x", 1), 1);
  reader.join();
  EXPECT_FALSE(look_at(tid).has_value());
}

TEST(MayInterrupt, WhatTheKernelStartsAgain) {
  const auto null_device = static_cast<std::uint64_t>(open("/dev/null", O_RDONLY));
  EXPECT_TRUE(may_interrupt(ThreadSight{}, kSignal));
  EXPECT_TRUE(may_interrupt(in_call(SYS_read, {null_device}), kSignal));
  EXPECT_TRUE(may_interrupt(in_call(SYS_wait4), kSignal));
  EXPECT_TRUE(may_interrupt(in_call(SYS_futex, {1, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, 0}), kSignal));
  close(static_cast<int>(null_device));
}

TEST(MayInterrupt, NotWhatWouldFailWithEINTR) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  EXPECT_FALSE(may_interrupt(in_call(SYS_read, {static_cast<std::uint64_t>(sockets[0])}), kSignal));
  for (const int number : {SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait, SYS_epoll_pwait,
                           SYS_nanosleep, SYS_clock_nanosleep, SYS_rt_sigtimedwait, SYS_pause, SYS_recvfrom, SYS_msgrcv,
                           SYS_semop, SYS_io_getevents, SYS_ioctl})
    EXPECT_FALSE(may_interrupt(in_call(number), kSignal)) << number;
  EXPECT_FALSE(may_interrupt(in_call(SYS_futex, {1, FUTEX_WAIT_BITSET, 0, 0x7ffd}), kSignal));
  close(sockets[0]);
  close(sockets[1]);
}

TEST(ThreadSight, OnlyAThreadThatGoesOnRunningRunsByItself) {
  std::atomic<bool> end{false};
  std::atomic<std::uint32_t> spins{0};
  std::atomic<std::uint32_t> ticks{0};
  std::thread spinner([&] {
    spins = static_cast<std::uint32_t>(syscall(SYS_gettid));
    while (!end.load(std::memory_order_relaxed)) {
    }
  });
  std::thread ticker([&] {
    ticks = static_cast<std::uint32_t>(syscall(SYS_gettid));
    while (!end.load(std::memory_order_relaxed)) usleep(500);
  });
  while (spins == 0 || ticks == 0) usleep(100);
  // On a busy machine it may be kept from running for a while.
  int patience = 10'000;
  bool runs = false;
  while (!runs && patience > 0) runs = runs_by_itself(spins, patience);
  EXPECT_TRUE(runs);
  EXPECT_FALSE(runs_by_itself(ticks, patience));
  int none = 0;
  EXPECT_FALSE(runs_by_itself(spins, none));
  EXPECT_FALSE(runs_by_itself(1, patience)) << "no thread of this process";
  end = true;
  spinner.join();
  ticker.join();
}

}  // namespace
}  // namespace plumbline::shim::stacks
