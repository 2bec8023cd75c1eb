#include "reader/stacks.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using recorder::StackFrameDetails;
using testing::TempDir;
using testing::TraceBuilder;

TEST(StacksTest, AreReadWithTheirNames) {
  const TempDir dir;
  TraceBuilder builder(dir.path());
  const StackFrameDetails inner{0, builder.text("get"), builder.text("/usr/lib/python3.11/queue.py"), 171};
  const StackFrameDetails outer{0, builder.text("main"), builder.text("train.py"), 60};
  builder.stack(
      {77, 5, "python", StackReason::kStall, 2'000'000'000, {inner, outer}, {{0x1040}}, recorder::kTrainingThread});
  builder.module({0x1000, 0x2000, 0x100, "/lib/x.so", "00ff"});
  builder.finish({});
  const Trace trace = testing::open_trace(builder.path());
  const Definitions& definitions = trace.definitions();
  ASSERT_EQ(definitions.stacks.size(), 1u);
  const Stack& stack = definitions.stacks[0];
  EXPECT_EQ(stack.time_ns, 77u);
  EXPECT_EQ(stack.tid, 5u);
  EXPECT_EQ(stack.thread_name, "python");
  EXPECT_EQ(name_of(stack.reason), "stall");
  EXPECT_EQ(stack.detail, 2'000'000'000u);
  EXPECT_TRUE(stack.is(recorder::kTrainingThread));
  EXPECT_FALSE(stack.is(recorder::kHoldsInterpreterLock));
  ASSERT_EQ(stack.python.size(), 2u);
  EXPECT_EQ(stack.python[0].function, "get");
  EXPECT_EQ(stack.python[0].file, "/usr/lib/python3.11/queue.py");
  EXPECT_EQ(stack.python[1].line, 60u);
  ASSERT_EQ(stack.native.size(), 1u);
  EXPECT_EQ(stack.native[0].pc, 0x1040u);
  EXPECT_EQ(stack.native[0].function, "");
  ASSERT_EQ(definitions.modules.size(), 1u);
  EXPECT_EQ(definitions.modules[0].path, "/lib/x.so");
  EXPECT_EQ(definitions.modules[0].file_offset, 0x100u);
}

TEST(StacksTest, ACallKnowsItsSite) {
  const TempDir dir;
  TraceBuilder builder(dir.path());
  recorder::CollectiveRecord call = testing::collective({.time_ns = 10, .id = 1});
  call.site = builder.text("train.py:12 in main");
  builder.add(0, call);
  builder.add(0, testing::collective({.time_ns = 11, .id = 2}));
  builder.finish({});
  const Trace trace = testing::open_trace(builder.path());
  std::vector<std::string> sites;
  trace.read({.kinds = kCollectives}, [&](const FrameView& frame) {
    for (const CollectiveBatch& batch : frame.collectives)
      for (const std::uint64_t site : batch.site) sites.emplace_back(site != 0 ? trace.text(site) : "none");
    return true;
  });
  EXPECT_EQ(sites, (std::vector<std::string>{"train.py:12 in main", "none"}));
}

TEST(StacksTest, EveryReasonHasAName) {
  EXPECT_EQ(name_of(StackReason::kFatalSignal), "fatal_signal");
  EXPECT_EQ(name_of(StackReason::kLargeAllocation), "large_allocation");
  EXPECT_EQ(name_of(StackReason::kFailedAllocation), "failed_allocation");
  EXPECT_EQ(name_of(StackReason::kImported), "imported");
  EXPECT_EQ(name_of(static_cast<StackReason>(99)), "unknown");
}

}  // namespace
}  // namespace plumbline::reader
