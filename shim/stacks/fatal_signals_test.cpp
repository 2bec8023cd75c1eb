// A process that records and dies: its stack is in the trace, and it dies as it would have.
#include "shim/stacks/fatal_signals.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "recorder/recorder.hpp"
#include "recorder/stack_source.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/trace_contents.hpp"
#include "shim/stacks/take_stacks.hpp"

namespace plumbline::shim::stacks {
namespace {

using recorder::testing::run_in_child;
using recorder::testing::ScratchDirectory;
using recorder::testing::TraceContents;

void no_core() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

[[gnu::noinline]] void crash() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

template <class Death>
int die(const ScratchDirectory& scratch, Death&& death) {
  return run_in_child([&] {
    no_core();
    recorder::Settings settings;
    settings.run_directory = scratch / "run";
    recorder::set_stack_source(stack_source());
    recorder::start(settings);
    recorder::promote("test");
    watch_fatal_signals();
    death();
  });
}

TraceContents trace_of(const ScratchDirectory& scratch) {
  return recorder::testing::read_trace(recorder::testing::only_file(scratch / "run", ".plt"));
}

TEST(FatalSignals, AFaultLeavesItsStack) {
  const ScratchDirectory scratch;
  const int status = die(scratch, [] { crash(); });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  const TraceContents trace = trace_of(scratch);
  ASSERT_EQ(trace.stacks.size(), 1u);
  EXPECT_EQ(trace.stacks[0].reason, 1u);
  EXPECT_EQ(trace.stacks[0].detail, static_cast<std::uint64_t>(SIGSEGV));
  ASSERT_GE(trace.stacks[0].native.size(), 3u);
  const auto function = reinterpret_cast<std::uint64_t>(&crash);
  EXPECT_GE(trace.stacks[0].native[0], function);
  EXPECT_LT(trace.stacks[0].native[0], function + 64);
  EXPECT_FALSE(trace.modules.empty());
}

TEST(FatalSignals, AnAbortAndASentSignalKeepTheirStatus) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) {
    const ScratchDirectory scratch;
    const int status = die(scratch, [signal] {
      if (signal == SIGABRT) std::abort();
      kill(getpid(), signal);
      for (;;) pause();
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(trace_of(scratch).stacks.size(), 1u);
  }
}

TEST(FatalSignals, AHandlerOfTheJobStaysWhereItIs) {
  const ScratchDirectory scratch;
  const int status = run_in_child([] {
    struct sigaction action {};
    action.sa_handler = [](int) { std::_Exit(7); };
    sigaction(SIGSEGV, &action, nullptr);
    watch_fatal_signals();
    crash();
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(FatalSignals, AForkedChildDiesAtOnce) {
  const ScratchDirectory scratch;
  const int status = die(scratch, [] {
    const int child = run_in_child([] {
      recorder::fork_child();
      crash();
    });
    std::_Exit(WIFSIGNALED(child) && WTERMSIG(child) == SIGSEGV ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(trace_of(scratch).stacks.empty());
}

}  // namespace
}  // namespace plumbline::shim::stacks
