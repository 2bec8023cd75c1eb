// Recording an event makes no system call: shown by the kernel, which ends a thread that makes one.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

constexpr int kEvents = 20'000;
constexpr int kNeverDone = 3;

// From here on the calling thread ends at any system call but exit(2). (The kernel's strict mode would do, if it did
// not take the clock away.)
bool forbid_system_calls() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
  };
  const sock_fprog filter{sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// In a thread that may do nothing but compute: see above.
template <class Work>
bool done_without_system_calls(Work&& work) {
  std::atomic<bool> done{false};
  std::thread([&] {
    work(1);  // the first event claims a ring
    if (forbid_system_calls()) {
      work(kEvents);
      done.store(true);
    }
    syscall(SYS_exit, 0);
  }).detach();
  for (int i = 0; i < 100 && !done.load(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return done.load();
}

template <class Work>
int status_of(Work&& work) {
  const testing::ScratchDirectory scratch;
  return testing::run_in_child([&] {
    Settings settings;
    settings.run_directory = scratch / "run";
    settings.ring_bytes = 1 << 16;  // full soon: dropping and counting makes none either
    start(settings);
    promote("step");
    if (!done_without_system_calls(work)) std::_Exit(kNeverDone);
  });
}

TEST(PushMakesNoSystemCall, OfAnAllocation) {
  EXPECT_EQ(status_of([](int events) {
              for (int i = 0; i < events; ++i) {
                push(testing::alloc_record(now_ns(), 0x1000, 64).header);
                push(testing::free_record(now_ns(), 0x1000).header);
              }
            }),
            0);
}

TEST(PushMakesNoSystemCall, OfACollectiveWithItsMarks) {
  EXPECT_EQ(status_of([](int events) {
              for (int i = 0; i < events; ++i) {
                const std::uint64_t id = next_id();
                push(testing::collective_record(now_ns(), id).header);
                set_in_flight(Kind::kCollective, 0, now_ns(), id);
                push(testing::mark_record(Kind::kCollectiveStart, now_ns(), id).header);
                clear_in_flight();
                push(testing::mark_record(Kind::kCollectiveEnd, now_ns(), id, Outcome::kCompleted).header);
              }
            }),
            0);
}

TEST(PushMakesNoSystemCall, ATestThatCanFail) {
  EXPECT_EQ(WEXITSTATUS(status_of([](int events) {
              if (events > 1) syscall(SYS_getppid);
            })),
            kNeverDone);
}

}  // namespace
}  // namespace plumbline::recorder
